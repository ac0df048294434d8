import { PbfWriter } from 'pbf'
import { type Attributes, SPAN_KINDS, type Span } from '../kernel/ports/traces.ts'

// Numbers of fields are those of opentelemetry-proto 1.

/** `status.code` of a span that failed. */
const ERROR = 2

/** Protobuf's wire type of a `fixed64`. */
const FIXED64 = 1

/** Encodes an `ExportTraceServiceRequest`. */
export const encodeSpans = (resource: Attributes, spans: readonly Span[]): Uint8Array => {
  const request = new PbfWriter()
  request.writeMessage(
    1,
    (_, resourceSpans) => {
      resourceSpans.writeMessage(1, (attributes, to) => writeAttributes(1, attributes, to), resource)
      resourceSpans.writeMessage(2, writeScopeSpans, spans)
    },
    undefined,
  )
  return request.finish()
}

const writeScopeSpans = (spans: readonly Span[], to: PbfWriter): void => {
  to.writeMessage(1, (name, scope) => scope.writeStringField(1, name), 'agent-platform')
  for (const span of spans) to.writeMessage(2, writeSpan, span)
}

const writeSpan = (span: Span, to: PbfWriter): void => {
  to.writeBytesField(1, Buffer.from(span.traceId, 'hex'))
  to.writeBytesField(2, Buffer.from(span.spanId, 'hex'))
  if (span.state !== undefined) to.writeStringField(3, span.state)
  if (span.parentSpanId !== undefined) to.writeBytesField(4, Buffer.from(span.parentSpanId, 'hex'))
  to.writeStringField(5, span.name)
  to.writeVarintField(6, SPAN_KINDS[span.kind])
  writeTime(7, span.startedAt, to)
  writeTime(8, span.endedAt, to)
  writeAttributes(9, span.attributes, to)
  if (span.failed) to.writeMessage(15, (code, status) => status.writeVarintField(3, code), ERROR)
}

/** Writes a time in ms as nanoseconds, which exceed the exact integers of a number. */
const writeTime = (field: number, ms: number, to: PbfWriter): void => {
  const nanoseconds = BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.floor((ms % 1) * 1_000_000))
  to.writeTag(field, FIXED64)
  to.writeFixed32(Number(nanoseconds & 0xffff_ffffn))
  to.writeFixed32(Number(nanoseconds >> 32n))
}

const writeAttributes = (field: number, attributes: Attributes, to: PbfWriter): void => {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue
    to.writeMessage(
      field,
      (_, attribute) => {
        attribute.writeStringField(1, key)
        attribute.writeMessage(2, writeValue, value)
      },
      undefined,
    )
  }
}

const writeValue = (value: string | number | boolean | readonly string[], to: PbfWriter): void => {
  if (typeof value === 'string') to.writeStringField(1, value)
  else if (typeof value === 'boolean') to.writeBooleanField(2, value)
  else if (typeof value === 'object') to.writeMessage(5, writeArray, value)
  else if (Number.isInteger(value)) to.writeVarintField(3, value)
  else to.writeDoubleField(4, value)
}

const writeArray = (values: readonly string[], to: PbfWriter): void => {
  for (const value of values) to.writeMessage(1, writeValue, value)
}
