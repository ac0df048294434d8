"""An agent with OpenTelemetry's stock SDK, which may ask another. Prints its address and runs until its input ends."""

import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

given = json.loads(sys.argv[1])
provider = TracerProvider(resource=Resource.create({"service.name": "python-agent"}))
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=given["traces"] + "/v1/traces")))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("agent")


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        execute = json.loads(self.rfile.read(int(self.headers["content-length"])))
        context = propagate.extract({name.lower(): value for name, value in self.headers.items()})
        with tracer.start_as_current_span(given["name"], context=context, kind=trace.SpanKind.SERVER):
            headers = {"content-type": "application/json", "authorization": "Bearer " + execute["callback"]["token"]}
            propagate.inject(headers)
            call = lambda path, body: json.load(
                urllib.request.urlopen(
                    urllib.request.Request(execute["callback"]["base_url"] + path, json.dumps(body).encode(), headers)
                )
            )
            steps = {"steps": [{"type": "message", "output": {"text": "From Python."}}]}
            call(f"/runs/{execute['run']['id']}/steps", steps)
            if "asks" in given:
                asked = {"agent": given["asks"], "tool": "look", "arguments": {}}
                call("/tools/ask_agent/invoke", {"arguments": asked})
        body = json.dumps({"status": "succeeded", "output": {"from": given["name"]}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
server.shutdown()
