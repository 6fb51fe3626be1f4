// The C interface of ferrosz for C++17: objects that free themselves, and exceptions. ferrosz.h documents each function;
// what is not here is called by get().
#ifndef FERROSZ_HPP
#define FERROSZ_HPP

#include "ferrosz.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferrosz {

/// A call that failed: the text of the library, and its status.
class Error : public std::runtime_error {
public:
    Error(ferrosz_status status, const std::string& text) : std::runtime_error(text), status(status) {}

    const ferrosz_status status;
};

/// Calls a function of C, whose last argument is an error, and throws if it fails: a status that is not FERROSZ_OK, or a
/// null pointer. Returns what the function returns.
template <class Function, class... Arguments>
auto call(Function function, Arguments... arguments) {
    const std::unique_ptr<ferrosz_error, decltype(&ferrosz_error_free)> error(ferrosz_error_new(), ferrosz_error_free);
    auto result = function(arguments..., error.get());
    if (ferrosz_error_status(error.get()) != FERROSZ_OK) {
        throw Error(ferrosz_error_status(error.get()), ferrosz_error_text(error.get()));
    }
    return result;
}

/// The number of a type of values.
template <class Value> constexpr ferrosz_type type_of = 0;
template <> inline constexpr ferrosz_type type_of<float> = FERROSZ_F32;
template <> inline constexpr ferrosz_type type_of<double> = FERROSZ_F64;
template <> inline constexpr ferrosz_type type_of<int16_t> = FERROSZ_I16;
template <> inline constexpr ferrosz_type type_of<uint16_t> = FERROSZ_U16;
template <> inline constexpr ferrosz_type type_of<int32_t> = FERROSZ_I32;
template <> inline constexpr ferrosz_type type_of<uint32_t> = FERROSZ_U32;

/// The bytes of a buffer of C, which is freed.
inline std::vector<uint8_t> take(ferrosz_buffer* made) {
    const std::unique_ptr<ferrosz_buffer, decltype(&ferrosz_buffer_free)> buffer(made, ferrosz_buffer_free);
    const uint8_t* data = ferrosz_buffer_data(buffer.get());
    return {data, data + ferrosz_buffer_bytes(buffer.get())};
}

/// The settings of compression. Each setting returns the compressor, so that calls can be chained.
class Compressor {
public:
    /// A preset or a codec by its name, and an error bound.
    Compressor(const std::string& codec, ferrosz_bound_mode mode, double bound)
        : compressor(call(ferrosz_compressor_new, codec.c_str(), mode, bound), ferrosz_compressor_free) {}

    Compressor& extents(const std::vector<uint64_t>& lengths) {
        call(ferrosz_compressor_set_extents, get(), uint64_t(lengths.size()), lengths.data());
        return *this;
    }

    Compressor& fill(double value) {
        call(ferrosz_compressor_add_fill, get(), value);
        return *this;
    }

    Compressor& keep_above(double number) {
        call(ferrosz_compressor_keep_above, get(), number);
        return *this;
    }

    Compressor& limits(double low, double high) {
        call(ferrosz_compressor_set_limits, get(), low, high);
        return *this;
    }

    Compressor& statistics() {
        call(ferrosz_compressor_add_statistics, get());
        return *this;
    }

    Compressor& levels(uint32_t count) {
        call(ferrosz_compressor_set_levels, get(), count);
        return *this;
    }

    Compressor& device(const std::string& name) {
        call(ferrosz_compressor_set_device, get(), name.c_str());
        return *this;
    }

    /// The stream of a field.
    template <class Value> std::vector<uint8_t> compress(const Value* field, uint64_t elements) const {
        return take(call(ferrosz_compress_to_buffer, get(), type_of<Value>, static_cast<const void*>(field), elements));
    }

    /// The streams of many fields, which are compressed at the same time.
    template <class Value>
    std::vector<std::vector<uint8_t>> compress_batch(const std::vector<std::vector<Value>>& fields) const {
        std::vector<const void*> values;
        std::vector<uint64_t> elements;
        for (const auto& field : fields) {
            values.push_back(field.data());
            elements.push_back(field.size());
        }
        const std::unique_ptr<ferrosz_batch, decltype(&ferrosz_batch_free)> batch(
            call(ferrosz_compress_batch, get(), type_of<Value>, static_cast<const void* const*>(values.data()),
                 static_cast<const uint64_t*>(elements.data()), uint64_t(fields.size())),
            ferrosz_batch_free);
        std::vector<std::vector<uint8_t>> streams;
        for (uint64_t number = 0; number < fields.size(); number++) {
            const uint8_t* stream = ferrosz_batch_stream(batch.get(), number);
            streams.emplace_back(stream, stream + ferrosz_batch_stream_bytes(batch.get(), number));
        }
        return streams;
    }

    /// The stream of a field that reaches a target, "psnr", "rmse" or "ratio", in place of the bound.
    template <class Value>
    std::vector<uint8_t> compress_to(const std::string& target, double value, const Value* field, uint64_t elements) const {
        const std::unique_ptr<ferrosz_search, decltype(&ferrosz_search_free)> search(
            call(ferrosz_search_new, static_cast<const ferrosz_compressor*>(get()), target.c_str(), value, type_of<Value>,
                 static_cast<const void*>(field), elements),
            ferrosz_search_free);
        const uint8_t* stream = ferrosz_search_stream(search.get());
        return {stream, stream + ferrosz_search_stream_bytes(search.get())};
    }

    /// The object of C, for all other settings.
    ferrosz_compressor* get() const { return compressor.get(); }

private:
    std::unique_ptr<ferrosz_compressor, decltype(&ferrosz_compressor_free)> compressor;
};

/// The number of elements of a stream's field.
inline uint64_t elements(const std::vector<uint8_t>& stream) {
    const std::unique_ptr<ferrosz_info, decltype(&ferrosz_info_free)> info(
        call(ferrosz_info_new, static_cast<const void*>(stream.data()), uint64_t(stream.size())), ferrosz_info_free);
    return ferrosz_info_elements(info.get());
}

/// The values of a stream.
template <class Value> std::vector<Value> decompress(const std::vector<uint8_t>& stream) {
    std::vector<Value> values(elements(stream));
    call(ferrosz_decompress, static_cast<const ferrosz_decompressor*>(nullptr), static_cast<const void*>(stream.data()),
         uint64_t(stream.size()), type_of<Value>, static_cast<void*>(values.data()), uint64_t(values.size()),
         static_cast<uint64_t*>(nullptr));
    return values;
}

/// The values of a level of a stream: every 2^level-th one along each axis.
template <class Value> std::vector<Value> decompress_level(const std::vector<uint8_t>& stream, uint32_t level) {
    uint64_t elements = 0;
    const auto to = [&](std::vector<Value>& values, ferrosz_error* error) {
        return ferrosz_decompress_level(nullptr, stream.data(), stream.size(), level, 0, nullptr, nullptr, type_of<Value>,
                                        values.data(), values.size(), &elements, error);
    };
    std::vector<Value> values;
    // Without room the call says how many there are.
    to(values, nullptr);
    values.resize(elements);
    call([&](ferrosz_error* error) { return to(values, error); });
    return values;
}

/// The numbers and the values of the elements that were found.
struct Matches {
    std::vector<uint64_t> elements;
    std::vector<double> values;
};

/// The decoded values of a stream from `low` to `high`.
inline Matches find(const std::vector<uint8_t>& stream, double low, double high) {
    const std::unique_ptr<ferrosz_matches, decltype(&ferrosz_matches_free)> found(
        call(ferrosz_matches_new, static_cast<const ferrosz_decompressor*>(nullptr), static_cast<const void*>(stream.data()),
             uint64_t(stream.size()), low, high),
        ferrosz_matches_free);
    const uint64_t count = ferrosz_matches_count(found.get());
    const uint64_t* elements = ferrosz_matches_elements(found.get());
    const double* values = ferrosz_matches_values(found.get());
    return {{elements, elements + count}, {values, values + count}};
}

/// A stream in which a box of the field is replaced by values.
template <class Value>
std::vector<uint8_t> update(const std::vector<uint8_t>& stream, const std::vector<uint64_t>& starts,
                            const std::vector<uint64_t>& lengths, const std::vector<Value>& values) {
    if (starts.size() != lengths.size()) {
        throw Error(FERROSZ_INVALID_ARGUMENT, "lengths: they are not as many as the starts");
    }
    const void* bytes = stream.data();
    const std::unique_ptr<ferrosz_update, decltype(&ferrosz_update_free)> made(
        call(ferrosz_update_new, bytes, uint64_t(stream.size()), uint64_t(starts.size()), starts.data(), lengths.data(),
             type_of<Value>, static_cast<const void*>(values.data()), uint64_t(values.size())),
        ferrosz_update_free);
    return take(call(ferrosz_update_apply, static_cast<const ferrosz_update*>(made.get()), bytes, uint64_t(stream.size())));
}

/// The parameters of streams of cuSZp and AATROX, which have no header. Each setting returns them.
template <class Value> class Bare {
public:
    /// "cuszp" or "aatrox", for arrays of these extents.
    Bare(const std::string& format, const std::vector<uint64_t>& extents)
        : bare(call(ferrosz_bare_new, format.c_str(), type_of<Value>, uint64_t(extents.size()), extents.data()),
               ferrosz_bare_free) {}

    Bare& mode(const std::string& name) {
        call(ferrosz_bare_set_mode, get(), name.c_str());
        return *this;
    }

    /// An absolute error.
    Bare& abs(double error) {
        call(ferrosz_bare_set_bound, get(), FERROSZ_ABS, error, false, static_cast<const void*>(nullptr), uint64_t(0));
        return *this;
    }

    /// The stream of an array.
    std::vector<uint8_t> compress(const std::vector<Value>& field) const {
        return take(call(ferrosz_bare_compress, static_cast<const ferrosz_bare*>(get()),
                         static_cast<const void*>(field.data()), uint64_t(field.size())));
    }

    /// The array of a stream, which has so many elements.
    std::vector<Value> decompress(const std::vector<uint8_t>& stream, uint64_t elements) const {
        std::vector<Value> values(elements);
        call(ferrosz_bare_decompress, static_cast<const ferrosz_bare*>(get()), static_cast<const void*>(stream.data()),
             uint64_t(stream.size()), static_cast<void*>(values.data()), elements, static_cast<uint64_t*>(nullptr));
        return values;
    }

    /// The object of C, for all other settings and calls.
    ferrosz_bare* get() const { return bare.get(); }

private:
    std::unique_ptr<ferrosz_bare, decltype(&ferrosz_bare_free)> bare;
};

} // namespace ferrosz

#endif // FERROSZ_HPP
