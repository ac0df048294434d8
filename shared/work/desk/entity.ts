import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Screens whose filters can be saved. */
export const SCREENS = ['runs', 'tasks', 'audit'] as const

const desk = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    views: z.array(z.object({ screen: z.enum(SCREENS), name: z.string(), query: z.string() })).optional(),
    /** Waiting items that are put aside, each until a time. */
    snoozed: z.array(z.object({ id: z.string(), until: z.number() })).optional(),
    /** Grows with every change of `snoozed`. */
    revision: z.number().optional(),
  })

export type Desk = z.infer<ReturnType<typeof desk>>

/** A person’s own arrangement of their work in a workspace. */
export const DeskEntity = defineEntity({
  name: 'desk',
  schema: desk,
  pk: 'WS#{workspace_id}',
  sk: 'DESK#{user_id}',
  personal: { text: ['views'] },
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})
