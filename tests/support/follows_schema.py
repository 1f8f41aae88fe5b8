"""follows_schema.py FILE SCHEMA: whether a JSON file is what a JSON Schema says. Says where not, and exits with 1.

Knows the keywords that presets/schemas uses, and refuses a schema with others.
"""

import json
import sys

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties",
         "items", "enum", "const", "minimum"}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def faults(value, rule, root, place):
    unknown = set(rule) - KNOWN
    if unknown:
        yield f"{place}: the schema has keywords this check does not know: {unknown}"
    if "$ref" in rule:
        yield from faults(value, root["$defs"][rule["$ref"].split("/")[-1]], root, place)
    names = rule.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        yield f"{place}: {value!r} is no {' or '.join(names)}"
        return
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place}: {value!r} is none of {rule['enum']}"
    if "const" in rule and value != rule["const"]:
        yield f"{place}: {value!r} is not {rule['const']!r}"
    if "minimum" in rule and has_type(value, "number") and value < rule["minimum"]:
        yield f"{place}: {value} is below {rule['minimum']}"
    if isinstance(value, list):
        for i, each in enumerate(value):
            yield from faults(each, rule.get("items", {}), root, f"{place}[{i}]")
    if isinstance(value, dict):
        fields = rule.get("properties", {})
        for name in rule.get("required", []):
            if name not in value:
                yield f"{place}: {name} is missing"
        for name, each in value.items():
            if name in fields:
                yield from faults(each, fields[name], root, f"{place}.{name}")
            elif rule.get("additionalProperties", True) is False:
                yield f"{place}: {name} is not described"
            elif isinstance(rule.get("additionalProperties"), dict):
                yield from faults(each, rule["additionalProperties"], root, f"{place}.{name}")


def main():
    with open(sys.argv[1]) as file:
        document = json.load(file)
    with open(sys.argv[2]) as file:
        schema = json.load(file)
    found = list(faults(document, schema, schema, "it"))
    for each in found[:20]:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
