import * as z from 'zod'
import { SCOPE_NAMES, SCOPES, type Scope } from '#shared/kernel/scopes.ts'

/** Scope with the description that the consent page also shows. */
export const ScopeSchema = () =>
  z
    .object({
      scope: z.enum(SCOPE_NAMES),
      description: z.string(),
      dangerous: z.boolean().meta({ description: 'True if a person can decline this scope and grant the rest.' }),
    })
    .meta({ id: 'Scope' })

export type ScopeView = z.infer<ReturnType<typeof ScopeSchema>>

export const presentScope = (scope: Scope): ScopeView => {
  const [description, dangerous] = SCOPES[scope]
  return { scope, description, dangerous }
}
