import * as z from 'zod'
import { payload, payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { tokenUsage } from '#shared/kernel/token-usage.ts'
import { defineEntity } from '#shared/table/entity.ts'

const inlineRun = () =>
  z.object({
    run_id: z.string(),
    installation_id: z.string(),
    /** Prompt as of the start of the run. The run's subject may change afterwards. */
    prompt: payload(),
    /** The worker that holds the run, and when its lease ends. */
    holder: z.string(),
    held_until: z.number(),
    /** Workers that took the run since its latest turn. After too many losses the run fails. */
    tries: z.number(),
    /** Tokens that the run has used so far. */
    usage: tokenUsage(),
    created_at: z.number(),
  })

export type InlineRun = z.infer<ReturnType<typeof inlineRun>>

/** A run of an inline agent: its worker's lease and its usage. Written when the run starts. */
export const InlineRunEntity = defineEntity({
  name: 'inline-run',
  schema: inlineRun,
  pk: 'RUN#{run_id}',
  sk: 'INLINE',
  personal: { text: ['prompt'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const inlineTurn = () =>
  z.object({
    run_id: z.string(),
    /** From 1. */
    n: z.number(),
    /** `{text, calls: [{id, tool, arguments?}], provider?}` */
    said: payload(),
    created_at: z.number(),
  })

export type InlineTurn = z.infer<ReturnType<typeof inlineTurn>>

/** A model turn with tool calls. Created once and never updated. */
export const InlineTurnEntity = defineEntity({
  name: 'inline-turn',
  schema: inlineTurn,
  pk: 'RUN#{run_id}',
  sk: 'TURN#{n}',
  personal: { text: ['said'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const inlineCall = () =>
  z.object({
    run_id: z.string(),
    turn: z.number(),
    /** Index among the turn's calls, from 0. */
    place: z.number(),
    /** Result as sent to the model: a JSON string. */
    result: payload(),
    created_at: z.number(),
  })

/**
 * A completed tool call with its result. Created in the same transaction as the call's effect, so that each call takes
 * effect exactly once.
 */
export const InlineCallEntity = defineEntity({
  name: 'inline-call',
  schema: inlineCall,
  pk: 'RUN#{run_id}',
  sk: 'CALLED#{turn}#{place}',
  personal: { text: ['result'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const inlineQuestion = () =>
  z.object({
    run_id: z.string(),
    turn: z.number(),
    place: z.number(),
    /** Step of the question, whose answer becomes the call's result. */
    step_id: z.string(),
    created_at: z.number(),
  })

/** A call that asked a person. Created in the transaction of the question, so that each call asks once. */
export const InlineQuestionEntity = defineEntity({
  name: 'inline-question',
  schema: inlineQuestion,
  pk: 'RUN#{run_id}',
  sk: 'ASKED#{turn}#{place}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})
