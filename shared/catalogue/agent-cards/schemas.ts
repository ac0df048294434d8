import * as z from 'zod'

/** Bindings over which the platform calls outside agents. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

/** An outside agent's card as of a version's publication. Runs use it, whatever the card says later. */
export const AgentCardPinSchema = () =>
  z.object({
    /** Of the card's bytes, in hex. */
    sha256: z.string(),
    name: z.string(),
    interface: z.object({
      url: z.string(),
      binding: z.enum(BINDINGS),
      version: z.enum(['1.0', '0.3']),
      tenant: z.string().optional(),
    }),
    /** Ids of its skills, at most 100. */
    skills: z.array(z.string()),
  })

export type AgentCardPin = z.infer<ReturnType<typeof AgentCardPinSchema>>
