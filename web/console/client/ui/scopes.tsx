import { useData } from '../../../ui/data.ts'
import { api, type Schemas, take } from '../api.ts'

export type ScopeName = Schemas['AddInstallation']['scopes'] extends (infer S)[] | undefined ? S : never

/** The words of every scope, read once. */
const useScopeWords = (): Map<string, string> => {
  const { data } = useData('scopes', () => take(api.GET('/oauth/scopes')))
  return new Map(data?.items.map(({ scope, description }) => [scope, description]) ?? [])
}

/** What an agent may do, in words. */
export const ScopeList = ({ scopes }: { scopes: readonly string[] }) => {
  const words = useScopeWords()
  if (scopes.length === 0) return <p class="soft">Nothing beyond being installed.</p>
  return (
    <ul class="tags">
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {words.get(scope) ?? scope}
        </li>
      ))}
    </ul>
  )
}
