"""Compares the functions and constants of ferrosz.f90 with those of ferrosz.h: names, order and kind of arguments."""

import re
import sys
from pathlib import Path

# The declaration in Fortran of each type of C.
KINDS = {
    "const char *": "character(kind=c_char), intent(in)",
    "const uint64_t *": "integer(c_int64_t), intent(in)",
    "uint64_t *": "integer(c_int64_t), intent(out)",
    "uint64_t": "integer(c_int64_t), value",
    "uint32_t": "integer(c_int32_t), value",
    "ferrosz_type": "integer(c_int32_t), value",
    "ferrosz_bound_mode": "integer(c_int32_t), value",
    "double": "real(c_double), value",
    "bool": "logical(c_bool), value",
}
RESULTS = {
    "uint64_t": "integer(c_int64_t)",
    "double": "real(c_double)",
    "bool": "logical(c_bool)",
    "void": None,
}


def of_header(text):
    """Each function's result and arguments, as Fortran would declare them."""
    text = re.sub(r"//[^\n]*", "", text[text.index('extern "C" {'):])
    found = {}
    for result, name, arguments in re.findall(r"([\w \*]+?)\s*(ferrosz_\w+)\(([^)]*)\);", text):
        pointer = result.strip().endswith("*")
        declared = []
        for argument in re.split(r",\s*", arguments):
            if argument == "void":
                continue
            kind, argument = re.fullmatch(r"(.*?)\s*(\w+)", argument.strip()).groups()
            declared.append((argument, KINDS.get(kind, "type(c_ptr), value")))
            assert kind in KINDS or kind.endswith("*"), f"{name}: the type {kind} is unknown to this test"
        found[name] = ("type(c_ptr)" if pointer else RESULTS.get(result.strip(), "integer(c_int32_t)"), declared)
    return found


def of_module(text):
    text = re.sub(r"&\n\s*", "", text)
    found = {}
    functions = re.findall(r"(?:function|subroutine) (ferrosz_\w+)\(([^)]*)\) bind\(c\)\n(.*?)\n\s*end (?:function|subroutine)",
                           text, re.DOTALL)
    for name, arguments, body in functions:
        kinds = {}
        for kind, names in re.findall(r"^\s*(\S.*) :: (.*)$", body, re.MULTILINE):
            for declared in names.split(", "):
                kinds[declared.removesuffix("(*)")] = kind
        found[name] = (kinds.get(name), [(each, kinds[each]) for each in arguments.split(", ") if each])
    return found


header, module = (Path(path).read_text() for path in sys.argv[1:3])
in_c, in_fortran = of_header(header), of_module(module)
assert len(in_c) > 50, "the header was not understood"
different = [name for name in in_c.keys() | in_fortran.keys() if in_c.get(name) != in_fortran.get(name)]
for name in sorted(different):
    print(f"{name}\n  C:       {in_c.get(name)}\n  Fortran: {in_fortran.get(name)}")
constants = dict(re.findall(r"#define (FERROSZ_\w+) (\d+)", header))
assert constants == dict(re.findall(r":: (FERROSZ_\w+) = (\d+)", module)), "the constants differ"
sys.exit(bool(different))
