import * as z from 'zod'

const progress = () =>
  z.object({
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  })

/** Severities of RFC 5424, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

const log = () =>
  z.object({
    level: z.enum(LOG_LEVELS),
    data: z.unknown(),
    logger: z.string().optional(),
  })

const artifact = () =>
  z.object({
    artifact_id: z.string().optional(),
    name: z.string().optional(),
    parts: z.array(z.record(z.string(), z.unknown())),
    append: z.boolean().optional(),
    last_chunk: z.boolean().optional(),
  })

const MEANINGS = { progress, log, artifact } as const

type MeaningfulStep = {
  [Type in keyof typeof MEANINGS]: { type: Type } & z.infer<ReturnType<(typeof MEANINGS)[Type]>>
}[keyof typeof MEANINGS]

/**
 * Reads a step whose type has a meaning for protocols (contract/runs.md#steps). Undefined for every other step: the type
 * is any label, so an output of another form is the agent's own business.
 */
export const meaningOf = ({ type, output }: { type: string; output: unknown }): MeaningfulStep | undefined => {
  if (!Object.hasOwn(MEANINGS, type)) return undefined
  const parsed = MEANINGS[type as keyof typeof MEANINGS]().safeParse(output)
  return parsed.success ? ({ type, ...parsed.data } as MeaningfulStep) : undefined
}
