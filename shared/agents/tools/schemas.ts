import * as z from 'zod'
import { LIMITS } from '#shared/kernel/limits.ts'

export const ToolSchema = () =>
  z
    .object({
      name: z.string(),
      description: z.string(),
      scope: z.string(),
      risk: z.enum(['read', 'write', 'dangerous']),
      approval: z.enum(['none', 'each']),
      input_schema: z.record(z.string(), z.unknown()),
      allowed: z.boolean(),
      denied_reason: z
        .string()
        .optional()
        .meta({ description: 'The reason why it can’t be called. Present only when `allowed` is false.' }),
    })
    .meta({ id: 'Tool' })

export const InvokeTool = () =>
  z.strictObject({
    arguments: z.record(z.string(), z.unknown()).default({}),
    run_id: z
      .string()
      .optional()
      .meta({ description: 'The run the call belongs to; a callback token implies its own.' }),
    reason: z
      .string()
      .min(1)
      .max(LIMITS.reasonCharacters)
      .optional()
      .meta({ description: 'Why, for the person who has to approve the call.' }),
  })

const receipt = () =>
  z.string().optional().meta({
    description: 'The signed receipt of the person’s decision (JWS). Present for a call that a person decided.',
  })

/** The three shapes of a result (contract/tools.md#invocation). */
export const InvocationResult = () =>
  z
    .discriminatedUnion('status', [
      z.object({ status: z.literal('ok'), result: z.record(z.string(), z.unknown()), receipt: receipt() }),
      z.object({ status: z.literal('awaiting_approval'), step_id: z.string(), tool: z.string() }),
      z.object({ status: z.literal('rejected'), tool: z.string(), receipt: receipt() }),
    ])
    .meta({ id: 'ToolInvocation' })

export type Invocation = z.infer<ReturnType<typeof InvocationResult>>
