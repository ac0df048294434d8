import * as z from 'zod'

/** Bindings over which the platform calls outside agents. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

/** An outside agent's card as of a version's publication. Runs use it, whatever the card says later. */
export const AgentCardPinSchema = () =>
  z.object({
    /** Of the card's bytes, in hex. */
    sha256: z.string(),
    /** Of the card's content without its signatures, which may differ in every copy. */
    content_sha256: z.string().optional(),
    name: z.string(),
    interface: z.object({
      url: z.string(),
      binding: z.enum(BINDINGS),
      version: z.enum(['1.0', '0.3']),
      tenant: z.string().optional(),
    }),
    /** Ids of its skills, at most 100. */
    skills: z.array(z.string()),
    /** Key of the signature that was verified. */
    kid: z.string().optional(),
    /** The agent reports a task's changes by push notifications. */
    pushes: z.boolean().optional(),
  })

export type AgentCardPin = z.infer<ReturnType<typeof AgentCardPinSchema>>

/** Returns true if two copies of a card say the same. */
export const isSameCard = (a: AgentCardPin, b: AgentCardPin): boolean =>
  a.sha256 === b.sha256 || (a.content_sha256 !== undefined && a.content_sha256 === b.content_sha256)
