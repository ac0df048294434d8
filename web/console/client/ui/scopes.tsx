import { useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { scopeText } from '../../../ui/scope-text.ts'
import { api, type Schemas, unwrap } from '../api.ts'

export type ScopeName = Schemas['AddInstallation']['scopes'] extends (infer S)[] | undefined ? S : never

/** Loads the descriptions of all scopes. */
const useScopeDescriptions = (): Map<string, string> => {
  const { data } = useData('scopes', () => unwrap(api.GET('/oauth/scopes')))
  return new Map(data?.items.map(({ scope, description }) => [scope, description]) ?? [])
}

/** Descriptions of an agent's scopes. */
export const ScopeList = ({ scopes }: { scopes: readonly string[] }) => {
  const words = useScopeDescriptions()
  if (scopes.length === 0) return <p class="soft">{t('No permissions')}</p>
  return (
    <ul class="tags">
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {scopeText(scope, words.get(scope) ?? scope)}
        </li>
      ))}
    </ul>
  )
}
