import gzip, json, sys
try: from jsonschema.validators import validator_for
except ImportError: sys.exit(77)
read = lambda name: json.load(gzip.open(name) if name.endswith(".gz") else open(name))
schema = read(sys.argv[1])
kind = validator_for(schema)
kind.check_schema(schema)
validator = kind(schema)
for name in sys.argv[2:]:
    wrong = [error.json_path + " " + error.message[:200] for error in validator.iter_errors(read(name))]
    print(name, ("refused" if wrong else "valid"), *wrong[:1])
