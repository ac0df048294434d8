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

type Field = Buffer | bigint

const varint = (bytes: Buffer, at: number): [value: bigint, next: number] => {
  let value = 0n
  for (let shift = 0n, i = at; ; i++, shift += 7n) {
    const byte = bytes.readUInt8(i)
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return [value, i + 1]
  }
}

/** Reads one protobuf message: its fields by number. */
const fieldsOf = (bytes: Buffer): Map<number, Field[]> => {
  const fields = new Map<number, Field[]>()
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = varint(bytes, at)
    const [value, next] = fieldAt(bytes, start, Number(tag & 7n))
    const number = Number(tag >> 3n)
    fields.set(number, [...(fields.get(number) ?? []), value])
    at = next
  }
  return fields
}

const fieldAt = (bytes: Buffer, start: number, type: number): [value: Field, next: number] => {
  if (type === 0) return varint(bytes, start)
  if (type === 1) return [bytes.readBigUInt64LE(start), start + 8]
  if (type === 5) return [BigInt(bytes.readUInt32LE(start)), start + 4]
  if (type !== 2) throw new Error(`unknown wire type ${type}`)
  const [length, from] = varint(bytes, start)
  const end = from + Number(length)
  return [bytes.subarray(from, end), end]
}

type Fields = Map<number, Field[]>
const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((each) => fieldsOf(each as Buffer))
const bytesOf = (fields: Fields, number: number): Buffer => (fields.get(number)?.[0] as Buffer) ?? Buffer.alloc(0)
const numberOf = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0)

const STRING = 1
const BOOL = 2
const DOUBLE = 4

const anyValueOf = (value: Fields): unknown => {
  const [[type, [field] = []] = []] = value
  if (type === STRING) return (field as Buffer).toString()
  if (type === BOOL) return field === 1n
  if (type !== DOUBLE) return Number(field)
  const bits = Buffer.alloc(8)
  bits.writeBigUInt64LE(field as bigint)
  return bits.readDoubleLE()
}

const protobufAttributes = (list: Fields[]): Record<string, unknown> =>
  Object.fromEntries(list.map((each) => [bytesOf(each, 1).toString(), anyValueOf(messages(each, 2)[0] ?? new Map())]))

/** Reads an export in protobuf, which the SDKs of most languages send. Numbers of fields are those of `opentelemetry-proto`. */
export const readProtobuf = (body: Buffer): ReceivedSpan[] =>
  messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map<number, Field[]>()] = messages(resourceSpans, 1)
    const service = serviceOf(protobufAttributes(messages(resource, 1)))
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        traceId: bytesOf(span, 1).toString('hex'),
        spanId: bytesOf(span, 2).toString('hex'),
        parentSpanId: bytesOf(span, 4).toString('hex') || undefined,
        name: bytesOf(span, 5).toString(),
        kind: numberOf(span, 6),
        startedAt: numberOf(span, 7) / 1e6,
        endedAt: numberOf(span, 8) / 1e6,
        failed: messages(span, 15).some((status) => numberOf(status, 3) === ERROR),
        service,
        attributes: protobufAttributes(messages(span, 9)),
      })),
    )
  })
