import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withinBounds } from '#shared/kernel/json-schema/bounds.ts'
import { checkSchema, newCheck } from '#shared/kernel/json-schema/check-schema.ts'
import { validateAgainst } from '#shared/kernel/json-schema/evaluate.ts'

/** A file of the JSON Schema Test Suite (test/vectors/json-schema-test-suite/README.md). */
type SuiteFile = {
  description: string
  schema: unknown
  tests: { description: string; data: unknown; valid: boolean }[]
}[]

const read = (name: string): Record<string, SuiteFile> =>
  JSON.parse(readFileSync(new URL(`../../../vectors/json-schema-test-suite/${name}.json`, import.meta.url), 'utf8'))

/** Every manifest is checked for these first. */
const MANIFEST = { depth: 64, nodes: 20_000, characters: 1_000_000 }

/** The platform checks the formats that it knows, which JSON Schema leaves to implementations. */
const FORMATS_AS_ANNOTATIONS = 'format.json'

/** Files with schemas that aren't accepted: references beyond the schema, the name `__proto__`, an empty enum. */
const OUTSIDE = [
  ...['anchor', 'defs', 'definitions', 'dynamicRef', 'recursiveRef', 'ref', 'refRemote', 'vocabulary'],
  ...['enum', 'properties', 'required', 'unevaluatedItems', 'unevaluatedProperties'],
].map((name) => `${name}.json`)

describe.each([
  ['draft7', 'http://json-schema.org/draft-07/schema#'],
  ['draft2019-09', 'https://json-schema.org/draft/2019-09/schema'],
  ['draft2020-12', 'https://json-schema.org/draft/2020-12/schema'],
])('the JSON Schema Test Suite, %s', (name, $schema) => {
  it('has the same verdict on every value of every accepted schema', () => {
    const refused: string[] = []
    let all = 0
    const differing: string[] = []
    for (const [file, groups] of Object.entries(read(name)))
      for (const { description, schema, tests } of groups) {
        if (file === FORMATS_AS_ANNOTATIONS) continue
        const whole = typeof schema === 'boolean' ? schema : { $schema, ...(schema as object) }
        const check = newCheck()
        checkSchema(check, whole, '')
        all += 1
        if (check.errors.list.length > 0 || withinBounds(whole, MANIFEST).list.length > 0) {
          refused.push(file)
          continue
        }
        for (const test of tests)
          if ((validateAgainst(whole, test.data).length === 0) !== test.valid)
            differing.push(`${file}: ${description}: ${test.description}`)
      }
    expect(differing).toEqual([])
    expect([...new Set(refused)].filter((file) => !OUTSIDE.includes(file))).toEqual([])
    expect(1 - refused.length / all).toBeGreaterThan(0.8)
  })
})
