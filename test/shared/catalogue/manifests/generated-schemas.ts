import { readFileSync } from 'node:fs'
import * as z from 'zod'

const s = z.string()
const Node: z.ZodType = z.object({
  v: s,
  get children() {
    return z.array(Node)
  },
})

const TYPES: Record<string, () => z.ZodType> = {
  string: () => s,
  min: () => s.min(1).max(5),
  length: () => s.length(4),
  regex: () => s.regex(/^[a-z]+$/),
  startsWith: () => s.startsWith('a'),
  endsWith: () => s.endsWith('z'),
  includes: () => s.includes('b'),
  upper: () => s.uppercase(),
  lower: () => s.lowercase(),
  trim: () => s.trim(),
  email: () => z.email(),
  emailHtml5: () => z.email({ pattern: z.regexes.html5Email }),
  emailRfc: () => z.email({ pattern: z.regexes.rfc5322Email }),
  emailUnicode: () => z.email({ pattern: z.regexes.unicodeEmail }),
  uuid: () => z.uuid(),
  uuidv4: () => z.uuidv4(),
  guid: () => z.guid(),
  url: () => z.url(),
  httpUrl: () => z.httpUrl(),
  hostname: () => z.hostname(),
  emoji: () => z.emoji(),
  base64: () => z.base64(),
  base64url: () => z.base64url(),
  hex: () => z.hex(),
  jwt: () => z.jwt(),
  nanoid: () => z.nanoid(),
  cuid: () => z.cuid(),
  cuid2: () => z.cuid2(),
  ulid: () => z.ulid(),
  ipv4: () => z.ipv4(),
  ipv6: () => z.ipv6(),
  mac: () => z.mac(),
  cidrv4: () => z.cidrv4(),
  cidrv6: () => z.cidrv6(),
  hash: () => z.hash('sha256'),
  isoDate: () => z.iso.date(),
  isoTime: () => z.iso.time(),
  isoDatetime: () => z.iso.datetime(),
  isoDatetimeOffset: () => z.iso.datetime({ offset: true }),
  isoDuration: () => z.iso.duration(),
  e164: () => z.e164(),
  ksuid: () => z.ksuid(),
  xid: () => z.xid(),
  number: () => z.number(),
  int: () => z.int(),
  int32: () => z.int32(),
  float64: () => z.float64(),
  gt: () => z.number().gt(1).lt(5),
  multipleOf: () => z.number().multipleOf(0.1),
  positive: () => z.number().positive(),
  boolean: () => z.boolean(),
  null: () => z.null(),
  any: () => z.any(),
  unknown: () => z.unknown(),
  never: () => z.never(),
  literal: () => z.literal('a'),
  literals: () => z.literal(['a', 1, null]),
  enum: () => z.enum(['a', 'b']),
  nativeEnum: () => z.enum({ A: 'a', B: 2 }),
  templateLiteral: () => z.templateLiteral(['id-', z.number()]),
  templateEmail: () => z.templateLiteral([s.min(1), '@', s.max(64)]),
  object: () => z.object({ a: s }),
  strict: () => z.strictObject({ a: s }),
  loose: () => z.looseObject({ a: s }),
  catchall: () => z.object({ a: s }).catchall(z.number()),
  nested: () => z.object({ a: z.object({ b: s }) }),
  optional: () => z.object({ a: s.optional() }),
  nullable: () => s.nullable(),
  nullish: () => s.nullish(),
  default: () => s.default('a'),
  prefault: () => s.prefault('a'),
  catch: () => s.catch('x'),
  readonly: () => z.array(s).readonly(),
  record: () => z.record(s, z.number()),
  recordEnum: () => z.record(z.enum(['a', 'b']), s),
  partialRecord: () => z.partialRecord(z.enum(['a', 'b']), s),
  recordRegex: () => z.record(s.regex(/^x-/), s),
  looseRecord: () => z.looseRecord(s.regex(/^x-/), s),
  recordNumber: () => z.record(z.number(), s),
  array: () => z.array(s),
  arrayMin: () => z.array(s).min(1).max(3),
  tuple: () => z.tuple([s, z.number()]),
  tupleRest: () => z.tuple([s], z.number()),
  union: () => z.union([s, z.number()]),
  discriminated: () =>
    z.discriminatedUnion('t', [z.object({ t: z.literal('a'), x: s }), z.object({ t: z.literal('b'), y: z.number() })]),
  xor: () => z.xor([s, z.number()]),
  intersection: () => z.intersection(z.object({ a: s }), z.object({ b: s })),
  recursive: () => Node,
  mutual: () => {
    const A: z.ZodType = z.object({
      get b() {
        return B.optional()
      },
    })
    const B: z.ZodType = z.object({
      get a() {
        return A.optional()
      },
    })
    return A
  },
  lazy: () => {
    const J: z.ZodType = z.lazy(() => z.union([s, z.number(), z.array(J), z.record(s, J)]))
    return J
  },
  json: () => z.json(),
  metaId: () =>
    z.object({
      p: z.object({ a: s }).meta({ id: 'P', title: 'P', examples: [{ a: 'x' }] }),
      q: z.object({ a: s }).meta({ id: 'P2' }),
    }),
  metaExample: () => s.meta({ example: 'a', deprecated: true }),
  describe: () => s.describe('x'),
  transform: () => s.transform((x) => x),
  stringbool: () => z.stringbool(),
  coerce: () => z.coerce.number(),
  brand: () => s.brand('x'),
  file: () => z.file(),
}

/** The type as the only property of an object, as Zod writes it. Types that JSON Schema can't describe are left out. */
const writtenByZod = (target: 'draft-2020-12' | 'draft-07'): Record<string, object> =>
  Object.fromEntries(
    Object.entries(TYPES).map(([name, make]) => [
      name,
      z.toJSONSchema(z.object({ x: make() }), { io: 'input', target }),
    ]),
  )

const RECORDED: Record<string, Record<string, object>> = JSON.parse(
  readFileSync(new URL('../../../vectors/generated-schemas/recorded.json', import.meta.url), 'utf8'),
)

/** Schemas that libraries write for ordinary types, by library and type. */
export const GENERATED_SCHEMAS: Record<string, Record<string, object>> = {
  'Zod, draft 2020-12': writtenByZod('draft-2020-12'),
  'Zod, draft-07': writtenByZod('draft-07'),
  ...RECORDED,
}
