import { diffManifests } from './manifest-diff.ts'
import { t } from './messages.ts'
import { Name } from './text.tsx'

interface VersionOfManifest {
  version: string
  manifest: unknown
}

/** Table of what changed between two manifests. */
export const Changes = ({ from, to }: { from: VersionOfManifest; to: VersionOfManifest }) => {
  const found = diffManifests(from.manifest, to.manifest)
  const title = t('Changes from {version} to {version2}', { version: from.version, version2: to.version })
  if (found.length === 0)
    return <p class="soft">{t('The manifest hasn’t changed since {version}.', { version: from.version })}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard
    <section class="table diff" tabIndex={0} aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t('Field')}</th>
            <th scope="col">{from.version}</th>
            <th scope="col">{to.version}</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ place, before, after }) => (
            <tr key={place}>
              <th scope="row">
                <Name>{place}</Name>
              </th>
              <td>
                {before === undefined ? (
                  <span class="soft">–</span>
                ) : (
                  <del>
                    <Name>{before}</Name>
                  </del>
                )}
              </td>
              <td>
                {after === undefined ? (
                  <span class="soft">–</span>
                ) : (
                  <ins>
                    <Name>{after}</Name>
                  </ins>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
