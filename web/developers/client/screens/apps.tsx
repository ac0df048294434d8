import { usePages } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, State } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import { refusalOf } from '../ui/roles.ts'

export default function Apps() {
  const list = usePages('apps', (cursor) =>
    unwrap(api.GET('/api/v1/dev/apps', { params: { query: { limit: 50, ...(cursor && { cursor }) } } })),
  )
  const refused = refusalOf('POST /api/v1/dev/apps')
  const create = !refused && (
    <a class="button primary" href="#/new">
      {t('Create an app')}
    </a>
  )
  return (
    <Screen title={t('Apps')} actions={list.items?.length ? create : undefined}>
      <Shown known={list} rows={3} tall>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="agents" title={refused ? t('No apps yet') : t('Create your first app')}>
              <p>{t('An app is what customers install. It has a manifest, which describes its agent.')}</p>
              {create || <p class="soft">{refused}</p>}
            </Empty>
          ) : (
            <ul class="rows">
              {items.map((app) => (
                <li key={app.id}>
                  <a class="row folds" href={`#/apps/${app.id}`}>
                    <Logo name={app.name} path={app.logo_url && app.logo_path} />
                    <span class="grow">
                      <strong>
                        <Name>{app.name}</Name>
                      </strong>
                      <span class="soft line">
                        <Name>{app.summary || app.slug}</Name>
                      </span>
                    </span>
                    {app.promoted_version && <span class="soft">{app.promoted_version}</span>}
                    <State name={app.status} />
                    {app.pending_revision && <span class="state warn">{t('Changes in review')}</span>}
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </Screen>
  )
}
