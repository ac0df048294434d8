#!/usr/bin/env bash
# Subject: ministack 1.5.33 (PyPI), an emulator of AWS, with boto3 1.43.106.
# Expected: CloudFormation resolves {{resolve:secretsmanager:…}} in a nested stack as in the stack around it.
# Happens: a nested stack's resource gets the text of the reference. The stack around it gets the secret.
# Matters: a template that works on AWS deploys without an error, and then refuses every request, if the reference is an API key or a
#   password. Resolving it in the stack around and passing an id as the parameter helps.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${emulator:-}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'ministack[full]==1.5.33' boto3==1.43.106
port=$("$folder/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(cd "$folder" && HOME=$folder GATEWAY_PORT=$port BIND_HOST=127.0.0.1 exec "$folder/venv/bin/ministack" > "$folder/log" 2>&1) &
emulator=$!
AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1 "$folder/venv/bin/python" - "$port" <<'PYTHON'
import json
import sys
import time
import urllib.request

import boto3

url = f"http://127.0.0.1:{sys.argv[1]}"
for _ in range(300):
    try:
        urllib.request.urlopen(f"{url}/_ministack/health").read()
        break
    except OSError:
        time.sleep(0.2)
client = lambda service: boto3.client(service, endpoint_url=url)
client("secretsmanager").create_secret(Name="key", SecretString="opened-with-this-secret")
key = {"Type": "AWS::ApiGateway::ApiKey", "Properties": {"Value": "{{resolve:secretsmanager:key:SecretString:::}}"}}
client("s3").create_bucket(Bucket="templates")
client("s3").put_object(Bucket="templates", Key="nested.json", Body=json.dumps({"Resources": {"Inner": key}}))
nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://s3.us-east-1.amazonaws.com/templates/nested.json"}}
stacks = client("cloudformation")
stacks.create_stack(StackName="around", TemplateBody=json.dumps({"Resources": {"Outer": key, "Nested": nested}}))
stacks.get_waiter("stack_create_complete").wait(StackName="around", WaiterConfig={"Delay": 1})
keys = client("apigateway").get_api_keys(includeValues=True)["items"]
found = {("inner" if "inner" in one["name"].lower() else "outer"): one["value"] for one in keys}
print(f"In the stack around: {found['outer']}. In the nested one: {found['inner']}", flush=True)
sys.exit(0 if found["outer"] == "opened-with-this-secret" and found["inner"].startswith("{{resolve:") else 1)
PYTHON
