import { useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { scopeText } from '../../../ui/scope-text.ts'
import { api, type Schemas, unwrap } from '../api.ts'

/** Compares the permissions that an agent has with those that its newest version requests. */
export const PermissionChanges = ({ one }: { one: Schemas['InstallationDetails'] }) => {
  const { slug } = one.app
  const link = useData(`installations link ${slug}`, () =>
    unwrap(api.GET('/console/install/{slug}', { params: { path: { slug } } })),
  )
  if (!link.data) return null
  const { scopes } = link.data
  const added = scopes.filter(({ granted }) => !granted)
  const kept = scopes.filter(({ granted }) => granted)
  if (added.length === 0) {
    return (
      <p>
        {t('It asks for the same {n, plural, one {permission} other {permissions}} as before.', { n: kept.length })}
      </p>
    )
  }
  return (
    <>
      <p>{t('It asks for more than this workspace granted. The update doesn’t grant it: you decide afterwards.')}</p>
      <ul class="plain">
        {added.map(({ scope, description, dangerous, denied }) => (
          <li key={scope}>
            <strong>{t('New:')}</strong> {scopeText(scope, description)}
            {dangerous && <strong> {t('Sensitive.')}</strong>}
            {denied && ` ${t('Blocked by a workspace admin.')}`}
          </li>
        ))}
        {kept.map(({ scope, description }) => (
          <li key={scope} class="soft">
            {t('As before: {permission}', { permission: scopeText(scope, description) })}
          </li>
        ))}
      </ul>
    </>
  )
}
