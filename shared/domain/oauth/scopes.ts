import * as z from 'zod'
import { SCOPE_NAMES, SCOPES, type Scope } from '../../kernel/scopes.ts'

/** A scope in the words that the consent screen uses too. */
export const ScopeSchema = () =>
  z
    .object({
      scope: z.enum(SCOPE_NAMES),
      description: z.string(),
      dangerous: z.boolean().meta({ description: 'A person may refuse it and grant the rest.' }),
    })
    .meta({ id: 'Scope' })

export type ScopeView = z.infer<ReturnType<typeof ScopeSchema>>

export const presentScope = (scope: Scope): ScopeView => {
  const [description, dangerous] = SCOPES[scope]
  return { scope, description, dangerous }
}
