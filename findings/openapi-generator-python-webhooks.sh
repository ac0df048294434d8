#!/usr/bin/env bash
# Subject: openapi-generator 7.25.0 (Maven Central), generator python, on an OpenAPI 3.1 document with a webhook.
# Expected: a webhook with a header is generated like an operation with one, or left out, as documentation has it.
# Happens: the parameter has no type. `x_signature: ,` is a SyntaxError, and as the package imports all of its modules, no part of the
#   client can be imported. The generator reports success. Go, Java, Rust and TypeScript compile.
# Matters: signatures of webhooks are in headers, so every document that describes signed webhooks is affected. Remove `webhooks` first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > openapi.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Shop", "version": "1" },
  "paths": {},
  "webhooks": {
    "order.paid": {
      "post": {
        "operationId": "orderPaid",
        "parameters": [{ "name": "X-Signature", "in": "header", "required": true, "schema": { "type": "string" } }],
        "responses": { "204": { "description": "Received." } }
      }
    }
  }
}
JSON
mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory="$folder"
java -jar openapi-generator-cli-7.25.0.jar generate -g python -i openapi.json -o client > log 2>&1
grep -n 'x_signature: ,' client/openapi_client/api/*.py | head -1
if python3 -m compileall -q client/openapi_client > errors 2>&1; then
  echo 'Compiles now.'
  exit 1
fi
grep -m1 SyntaxError errors
