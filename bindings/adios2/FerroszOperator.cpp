// An operator plugin of ADIOS2: compresses the blocks of variables within an error bound.
// docs/book/adios2.md says how to build and to use it.
//
// A block becomes a stream of ferrosz, which describes itself, so reading needs no parameters. Failures are exceptions, which
// ADIOS2 gives to its caller.

#include <adios2/plugin/PluginOperatorInterface.h>
#include <ferrosz.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>

namespace {

using adios2::DataType;
using adios2::Dims;
using adios2::Params;
using ferrosz::Compressor;

/// The most axes of a field.
constexpr size_t most_axes = 8;

/// The types that ADIOS2 and ferrosz have in common.
std::optional<ferrosz_type> type_of(DataType type) {
    switch (type) {
    case DataType::Float: return FERROSZ_F32;
    case DataType::Double: return FERROSZ_F64;
    case DataType::Int16: return FERROSZ_I16;
    case DataType::UInt16: return FERROSZ_U16;
    case DataType::Int32: return FERROSZ_I32;
    case DataType::UInt32: return FERROSZ_U32;
    default: return std::nullopt;
    }
}

/// The parameter of this name, if the user gave it.
std::optional<std::string> parameter(const Params& parameters, const std::string& name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

/// A parameter that is a number.
double number(const std::string& name, const std::string& text) {
    try {
        size_t end = 0;
        const double value = std::stod(text, &end);
        if (end == text.size()) {
            return value;
        }
    } catch (const std::logic_error&) {
        // No number at all, or one that is out of range.
    }
    throw std::invalid_argument("ferrosz: the parameter " + name + "='" + text + "' is not a number");
}

/// The value that stands for missing elements; none if it is to be found, or if there is none.
std::optional<double> fill_of(const Params& parameters) {
    const auto fill = parameter(parameters, "fill").value_or("auto");
    return fill == "auto" || fill == "none" ? std::nullopt : std::optional(number("fill", fill));
}

/// The compressor of the parameters. Bounds relative to the range are refused, as each block would have another one.
Compressor compressor_of(const Params& parameters) {
    for (const auto& [name, value] : parameters) {
        // ADIOS2 has made the names lower case, and its own are among them.
        if (name != "abs" && name != "pwrel" && name != "codec" && name != "fill" && name.rfind("plugin", 0) != 0) {
            throw std::invalid_argument("ferrosz: the parameter " + name + "='" + value +
                                        "' is none of abs, pwrel, codec and fill");
        }
    }
    const auto abs = parameter(parameters, "abs"), pwrel = parameter(parameters, "pwrel");
    if (abs.has_value() == pwrel.has_value()) {
        throw std::invalid_argument("ferrosz: give one of the parameters abs and pwrel, the error bound");
    }
    const auto codec = parameter(parameters, "codec").value_or("small");
    Compressor compressor(codec, abs ? FERROSZ_ABS : FERROSZ_PWREL, abs ? number("abs", *abs) : number("pwrel", *pwrel));
    if (const auto fill = fill_of(parameters)) {
        compressor.fill(*fill);
    }
    return compressor;
}

class FerroszOperator : public adios2::plugin::PluginOperatorInterface {
public:
    using PluginOperatorInterface::PluginOperatorInterface;

    size_t Operate(const char* field, const Dims&, const Dims& extents, const DataType type, char* stream) override {
        try {
            return operate(field, extents, type, stream);
        } catch (const std::exception& error) {
            // As ADIOS2 does with its own. ADIOS2 2.12.1 crashes when a file is closed after an exception in a Put, which
            // Python's `with` does before anyone sees the reason.
            std::cerr << error.what() << std::endl;
            throw;
        }
    }

    size_t InverseOperate(const char* stream, const size_t bytes, char* values) override {
        const void* data = stream;
        const std::unique_ptr<ferrosz_info, decltype(&ferrosz_info_free)> info(
            ferrosz::call(ferrosz_info_new, data, uint64_t(bytes)), ferrosz_info_free);
        ferrosz::call(ferrosz_decompress, static_cast<const ferrosz_decompressor*>(nullptr), data, uint64_t(bytes),
                      ferrosz_info_type(info.get()), static_cast<void*>(values), ferrosz_info_elements(info.get()),
                      static_cast<uint64_t*>(nullptr));
        return ferrosz_info_field_bytes(info.get());
    }

    bool IsDataTypeValid(const DataType type) const override { return type_of(type).has_value(); }

    size_t GetEstimatedSize(const size_t elements, const size_t bytes, const size_t, const size_t*) const override {
        // The type is not known here, only the bytes of a value.
        const auto most = [&](std::initializer_list<ferrosz_type> types) {
            size_t room = 0;
            for (const auto type : types) {
                room = std::max<size_t>(room, ferrosz_max_stream_bytes(type, elements));
            }
            return room;
        };
        switch (bytes) {
        case 2: return most({FERROSZ_I16, FERROSZ_U16});
        case 4: return most({FERROSZ_F32, FERROSZ_I32, FERROSZ_U32});
        default: return most({FERROSZ_F64});
        }
    }

private:
    size_t operate(const char* field, const Dims& extents, DataType of_field, char* stream) const {
        const auto type = type_of(of_field);
        if (!type) {
            throw std::invalid_argument("ferrosz: a variable of this type cannot be compressed");
        }
        const uint64_t elements = std::accumulate(extents.begin(), extents.end(), uint64_t(1), std::multiplies<uint64_t>());
        Compressor compressor = compressor_of(m_Parameters);
        if (!extents.empty() && extents.size() <= most_axes) {
            compressor.extents({extents.begin(), extents.end()});
        }
        if (parameter(m_Parameters, "fill").value_or("auto") == "auto") {
            ferrosz::call(ferrosz_compressor_detect_fills, compressor.get(), *type, static_cast<const void*>(field), elements);
        }
        // ADIOS2 has allocated what GetEstimatedSize returned.
        const uint64_t room = ferrosz_max_stream_bytes(*type, elements);
        try {
            return compress(compressor, *type, field, elements, stream, room);
        } catch (const ferrosz::Error& error) {
            if (error.status != FERROSZ_OUTPUT_TOO_SMALL) {
                throw;
            }
        }
        // A block without any order. As a line of exact values it has room.
        return compress(Compressor("plain", FERROSZ_ABS, 0), *type, field, elements, stream, room);
    }

    static size_t compress(const Compressor& compressor, ferrosz_type type, const char* field, uint64_t elements, char* stream,
                           uint64_t room) {
        uint64_t bytes = 0;
        ferrosz::call(ferrosz_compress, static_cast<const ferrosz_compressor*>(compressor.get()), type,
                      static_cast<const void*>(field), elements, static_cast<void*>(stream), room, &bytes);
        return bytes;
    }
};

} // namespace

extern "C" {

adios2::plugin::PluginOperatorInterface* OperatorCreate(const adios2::Params& parameters) {
    return new FerroszOperator(parameters);
}

void OperatorDestroy(adios2::plugin::PluginOperatorInterface* object) {
    delete object;
}
}
