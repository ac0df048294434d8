import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const sweepMark = () =>
  z.object({ name: z.string(), at: z.number(), found: z.number(), failed: z.number(), oldest_ms: z.number() })

/** Time and result of the last sweep. */
export const SweepMarkEntity = defineEntity({
  name: 'sweep-mark',
  schema: sweepMark,
  pk: 'PLATFORM#{name}',
  sk: 'SWEPT',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
