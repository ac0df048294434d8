import * as z from 'zod'
import { lazily } from '#shared/kernel/lazily.ts'

const shared = () => ({
  annotations: z.record(z.string(), z.unknown()).optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
})
const data = () => ({ data: z.base64(), mimeType: z.string() })
const resource = () => ({ uri: z.string(), mimeType: z.string().optional(), _meta: shared()._meta })

const block = () =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string(), ...shared() }),
    z.object({ type: z.literal('image'), ...data(), ...shared() }),
    z.object({ type: z.literal('audio'), ...data(), ...shared() }),
    z.object({
      type: z.literal('resource_link'),
      uri: z.string(),
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      mimeType: z.string().optional(),
      size: z.number().optional(),
      ...shared(),
    }),
    z.object({
      type: z.literal('resource'),
      resource: z.union([z.object({ ...resource(), text: z.string() }), z.object({ ...resource(), blob: z.base64() })]),
      ...shared(),
    }),
  ])

export type ContentBlock = z.infer<ReturnType<typeof block>>

const shape = lazily(() => z.object({ content: z.array(block()) }))

/** Reads the blocks of a run's `$mcp`. Undefined if they aren't blocks of the protocol (contract/runs.md#shaped-output). */
export const contentOf = (shaped: unknown): ContentBlock[] | undefined => {
  const parsed = shape().safeParse(shaped)
  return parsed.success ? parsed.data.content : undefined
}
