#!/usr/bin/env bash
# Subject: openapi-generator 7.25.0 (Maven Central), generator java, on `const` of OpenAPI 3.1 that is a boolean or a number.
# Expected: {"type": "boolean", "const": true} becomes a Boolean, and {"type": "number", "const": 900} a BigDecimal.
# Happens: each becomes an enum, and `TRUE("true")` doesn't fit its constructor, which takes a Boolean. With the library `native`, the
#   number doesn't compile: `BigDecimal.valueOf(new BigDecimal("900"))`. A constant text does. The generator reports success.
# Matters: zod writes z.literal(true) like this, so a flag that is only ever true takes the whole Java client away.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > openapi.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Shop", "version": "1" },
  "paths": {
    "/order": {
      "get": {
        "operationId": "readOrder",
        "responses": {
          "200": {
            "description": "The order.",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Order" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Order": {
        "type": "object",
        "properties": {
          "test": { "type": "boolean", "const": true },
          "seconds": { "type": "number", "const": 900 },
          "kind": { "type": "string", "const": "order" }
        }
      }
    }
  }
}
JSON
mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory="$folder"
java -jar openapi-generator-cli-7.25.0.jar generate -g java -i openapi.json -o client > log 2>&1
grep -rhE '(TRUE|NUMBER_900|ORDER)\(' client/src/main/java/org/openapitools/client/model/Order.java
if mvn --batch-mode --quiet --file client/pom.xml compile > errors 2>&1; then
  echo 'Compiles now.'
  exit 1
fi
grep -oE 'Order.java:.*(incompatible types|no suitable method found).*' errors | sort -u
grep -q 'String cannot be converted to Boolean' errors
