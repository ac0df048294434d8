import { usePages } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, State } from '../../../ui/text.tsx'
import { isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'

export type Installation = Schemas['InstallationDetails']

/** The most important status of an installation. */
export const InstallationState = ({ one }: { one: Installation }) => {
  if (one.app.status === 'suspended') return <State name="suspended" label={t('Suspended by the platform')} />
  if (one.status !== 'active') return <State name={one.status} />
  if (one.withdrawn_at !== null) return <State name="revoked" label={t('Access withdrawn')} />
  if (!one.settings_complete) return <State name="pending" label={t('Settings missing')} />
  return one.upgrade_available ? <State name="running" label={t('Update available')} /> : <State name="active" />
}

export default function Agents() {
  const agents = usePages<Installation>('installations list', (cursor) =>
    unwrap(api.GET('/console/installations', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <Screen
      title={t('Agents')}
      actions={
        <a class="button primary" href="#/marketplace">
          {isAdmin.value ? t('Install an agent') : t('Marketplace')}
        </a>
      }
    >
      <Shown known={agents} rows={4}>
        {({ items }) =>
          items.length === 0 && !agents.more ? (
            <Empty icon="agents" title={t('No agents installed yet')}>
              <p>
                <a href="#/marketplace">{t('Browse the marketplace')}</a>
              </p>
            </Empty>
          ) : (
            <ul class="rows">
              {items.map((one) => (
                <li key={one.id}>
                  <a class="row folds" href={`#/agents/${one.id}`}>
                    <Logo name={one.app.name} path={one.app.logo_path} />
                    <span class="grow">
                      <strong>
                        <Name>{one.app.name}</Name>
                      </strong>
                      <span class="soft">
                        <Name>{one.agent.id}</Name> · {one.agent.version}
                      </span>
                    </span>
                    <InstallationState one={one} />
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={agents.more} />
    </Screen>
  )
}
