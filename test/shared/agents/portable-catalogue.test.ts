import { describe, expect, it } from 'vitest'
import { PERSON_INPUT_SCHEMAS } from '#shared/agents/person-tools/index.ts'
import { INPUT_SCHEMAS } from '#shared/agents/tools/input-schemas.prebuilt.ts'
import { checkSchema, newCheck } from '#shared/kernel/json-schema/check-schema.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'

describe('the platform’s own tools', () => {
  it.each([...Object.entries(INPUT_SCHEMAS), ...Object.entries(PERSON_INPUT_SCHEMAS)])(
    '%s passes the check of developers’ schemas, and needs no other form for clients and models',
    (_, schema) => {
      const check = newCheck()
      checkSchema(check, schema, '')
      expect([...check.errors.list, ...check.warnings.list]).toEqual([])
      expect(portableSchema(schema)).toEqual(schema)
    },
  )
})
