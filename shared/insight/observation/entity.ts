import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'
import { HealthSchema } from './health-schema.ts'

const alarmReading = () =>
  HealthSchema()
    .pick({
      reasons: true,
      queues: true,
      dead_letters: true,
      stream: true,
      table: true,
      functions: true,
      api: true,
    })
    .extend({ name: z.string(), at: z.number() })

/** The alarms and their values as they were last read, for all readers. */
export const AlarmReadingEntity = defineEntity({
  name: 'alarm-reading',
  schema: alarmReading,
  pk: 'PLATFORM#{name}',
  sk: 'READ',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
