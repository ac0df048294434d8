import { PbfReader } from 'pbf'

/** A span, as the collector of the local run received it. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  /** Number of its kind in OTLP: 2 server, 3 client, 5 consumer. */
  kind: number
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt: number
  failed: boolean
  /** Name of the service that sent it. */
  service: string
  attributes: Record<string, unknown>
}

const ERROR = 2

interface JsonAttribute {
  key: string
  value?: Record<string, unknown>
}

interface JsonRequest {
  resourceSpans?: {
    resource?: { attributes?: JsonAttribute[] }
    scopeSpans?: {
      spans?: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind?: number
        startTimeUnixNano: string
        endTimeUnixNano: string
        attributes?: JsonAttribute[]
        status?: { code?: number }
      }[]
    }[]
  }[]
}

const attributesOf = (list: JsonAttribute[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value = {} }) => [key, Object.values(value)[0]]))

const serviceOf = (attributes: Record<string, unknown>): string => String(attributes['service.name'] ?? 'unknown')

/** Reads an export in JSON, as OpenTelemetry's SDK for JavaScript sends it. */
export const readJson = (body: Buffer): ReceivedSpan[] =>
  ((JSON.parse(body.toString()) as JsonRequest).resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const service = serviceOf(attributesOf(resource?.attributes))
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || undefined,
        name: span.name,
        kind: span.kind ?? 0,
        startedAt: Number(span.startTimeUnixNano) / 1e6,
        endedAt: Number(span.endTimeUnixNano) / 1e6,
        failed: span.status?.code === ERROR,
        service,
        attributes: attributesOf(span.attributes),
      })),
    )
  })

/** Reads the fields of a message by their numbers. */
type Fields = Record<number, (message: PbfReader) => void>
const readFields = (message: PbfReader, fields: Fields): void => {
  message.readFields((number, _, each) => fields[number]?.(each), undefined, message.readVarint() + message.pos)
}

const hexOf = (message: PbfReader): string => Buffer.from(message.readBytes()).toString('hex')

const readValue = (message: PbfReader): unknown => {
  let value: unknown
  readFields(message, {
    1: (each) => (value = each.readString()),
    2: (each) => (value = each.readBoolean()),
    3: (each) => (value = each.readVarint(true)),
    4: (each) => (value = each.readDouble()),
    5: (each) => (value = readArray(each)),
  })
  return value
}

const readArray = (message: PbfReader): unknown[] => {
  const values: unknown[] = []
  readFields(message, { 1: (each) => values.push(readValue(each)) })
  return values
}

const readAttribute = (message: PbfReader, into: Record<string, unknown>): void => {
  let key = ''
  let value: unknown
  readFields(message, { 1: (each) => (key = each.readString()), 2: (each) => (value = readValue(each)) })
  into[key] = value
}

const readSpan = (message: PbfReader): Omit<ReceivedSpan, 'service'> => {
  const span = { traceId: '', spanId: '', parentSpanId: undefined as string | undefined, name: '', kind: 0 }
  const times = { startedAt: 0, endedAt: 0 }
  const attributes: Record<string, unknown> = {}
  let failed = false
  readFields(message, {
    1: (each) => (span.traceId = hexOf(each)),
    2: (each) => (span.spanId = hexOf(each)),
    4: (each) => (span.parentSpanId = hexOf(each) || undefined),
    5: (each) => (span.name = each.readString()),
    6: (each) => (span.kind = each.readVarint()),
    7: (each) => (times.startedAt = each.readFixed64() / 1e6),
    8: (each) => (times.endedAt = each.readFixed64() / 1e6),
    9: (each) => readAttribute(each, attributes),
    15: (each) => readFields(each, { 3: (status) => (failed = status.readVarint() === ERROR) }),
  })
  return { ...span, ...times, failed, attributes }
}

/** Reads an export in protobuf, which the SDKs of most languages send. Numbers of fields are those of `opentelemetry-proto`. */
export const readProtobuf = (body: Buffer): ReceivedSpan[] => {
  const found: ReceivedSpan[] = []
  const readResourceSpans = (message: PbfReader): void => {
    const resource: Record<string, unknown> = {}
    const spans: Omit<ReceivedSpan, 'service'>[] = []
    readFields(message, {
      1: (each) => readFields(each, { 1: (attribute) => readAttribute(attribute, resource) }),
      2: (each) => readFields(each, { 2: (span) => spans.push(readSpan(span)) }),
    })
    for (const span of spans) found.push({ ...span, service: serviceOf(resource) })
  }
  new PbfReader(body).readFields((number, _, message) => number === 1 && readResourceSpans(message), undefined)
  return found
}
