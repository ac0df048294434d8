import * as z from 'zod'
import { ShownRequest } from '#shared/work/runs/index.ts'

const time = () => z.string().meta({ description: 'ISO 8601, UTC' })

const WAITING_KINDS = ['approval', 'question', 'task', 'draft'] as const

/** Something that waits for a person (contract/people-and-workspaces.md#inbox). */
export const WaitingItemSchema = () =>
  z
    .object({
      kind: z.enum(WAITING_KINDS),
      id: z.string().meta({ description: 'ID of the step, task or message.' }),
      title: z.string().meta({ description: 'The call, question, task or text in short.' }),
      agent: z.object({ id: z.string(), name: z.string() }).nullable(),
      run_id: z.string().nullable().meta({ description: 'The run of an approval or question.' }),
      text: z.string().nullable().meta({ description: 'The whole text of a draft.' }),
      chat_id: z.string().nullable().meta({ description: 'The thread of a draft.' }),
      status: z.string().nullable().meta({ description: 'Of a task: `discuss` or `review`.' }),
      tool: z.string().nullable(),
      request: ShownRequest().nullable().meta({ description: 'The request of an approval’s call, if it sends one.' }),
      amount: z
        .object({
          field: z.string().meta({ description: 'Name of the field that has it.', example: 'amount' }),
          value: z
            .number()
            .meta({ description: 'The number as the call has it, in whatever unit the receiver expects.' }),
          currency: z
            .string()
            .nullable()
            .meta({ description: 'Currency next to it, as the call names it.', example: 'EUR' }),
        })
        .nullable()
        .meta({
          description:
            'Amount, total, price or sum that an approval’s request names, if every receiver reads the same one.',
        }),
      reason: z.string().nullable().meta({ description: 'Why the agent makes an approval’s call, in its own words.' }),
      is_yours: z.boolean().meta({
        description: 'You started the run, created or have the task, or can send the draft. Others wait for anybody.',
      }),
      bundle: z
        .string()
        .nullable()
        .meta({ description: 'Equal for approvals of the same agent whose calls are identical.' }),
      created_at: time(),
      expires_at: time().nullable(),
      snoozed_until: time().nullable(),
    })
    .meta({ id: 'WaitingItem' })

export type WaitingItem = z.infer<ReturnType<typeof WaitingItemSchema>>
