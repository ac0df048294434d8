import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { payload, withPayloads } from './payload.ts'

const inlineRun = () =>
  z.object({
    run_id: z.string(),
    installation_id: z.string(),
    /** What the model is asked, as it was when the run began: its subject may change meanwhile. */
    prompt: payload(),
    /** The worker that goes on with the run, and until when it counts as alive without a further sign. */
    holder: z.string(),
    held_until: z.number(),
    /** Workers that took the run since its latest turn; it is given up when too many were lost. */
    tries: z.number(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    created_at: z.number(),
  })

export type InlineRun = z.infer<ReturnType<typeof inlineRun>>

/** A run of an inline agent: who works on it, and what it used. Written with the run's start. */
export const InlineRunEntity = defineEntity<InlineRun>()({
  name: 'inline-run',
  schema: inlineRun,
  pk: 'RUN#{run_id}',
  sk: 'INLINE',
  expires: withPayloads,
})

const inlineTurn = () =>
  z.object({
    run_id: z.string(),
    /** From 1. */
    n: z.number(),
    /** `{text, calls: [{id, tool, arguments?}]}` */
    said: payload(),
    created_at: z.number(),
  })

export type InlineTurn = z.infer<ReturnType<typeof inlineTurn>>

/** A turn of the model that asked for tools. Only ever created, so that each is taken once. */
export const InlineTurnEntity = defineEntity<InlineTurn>()({
  name: 'inline-turn',
  schema: inlineTurn,
  pk: 'RUN#{run_id}',
  sk: 'TURN#{n}',
  expires: withPayloads,
})

const inlineCall = () =>
  z.object({
    run_id: z.string(),
    turn: z.number(),
    /** Its place among the turn's calls, from 0. */
    place: z.number(),
    /** What the model is told of it: a JSON string. */
    result: payload(),
    created_at: z.number(),
  })

/**
 * A tool call that was made, with what came of it. Created in the transaction of the call's own effect: as long as it is not
 * there, nothing was done, and once it is, nothing is done again.
 */
export const InlineCallEntity = defineEntity<z.infer<ReturnType<typeof inlineCall>>>()({
  name: 'inline-call',
  schema: inlineCall,
  pk: 'RUN#{run_id}',
  sk: 'CALLED#{turn}#{place}',
  expires: withPayloads,
})
