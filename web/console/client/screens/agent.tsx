import { useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Form } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { type ToolName, ToolTicks } from '../../../ui/tools.tsx'
import { isAdmin, isOwner } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { GrantCard } from '../ui/grants.tsx'
import { PermissionChanges } from '../ui/permission-changes.tsx'
import { Reviews } from '../ui/reviews.tsx'
import { ScheduleProposals } from '../ui/schedule-proposals.tsx'
import { ScopeList } from '../ui/scopes.tsx'
import { SettingsForm } from '../ui/settings-form.tsx'
import { type Installation, InstallationState } from './agents.tsx'

const Upgrade = ({ one }: { one: Installation }) => {
  const { busy, failure, act } = useAction()
  const upgrade = () =>
    act(async () => {
      const path = { id: one.id }
      const now = await unwrap(api.POST('/console/installations/{id}/upgrade', { params: { path } }))
      announce(t('Updated to version {version}.', { version: now.agent.version }))
      if (now.missing_scopes.length > 0) announce(t('The new version needs more permissions. Review them on its page.'))
      await refresh('installations')
    })
  return (
    <div class="card urgent">
      <p>
        {rich(
          'Version {latest_version} is available. This workspace uses {version}. Runs in progress aren’t affected.',
          { latest_version: <strong>{one.latest_version}</strong>, version: one.agent.version },
        )}
      </p>
      <PermissionChanges one={one} />
      {failure && <Problem failure={failure} />}
      {isAdmin.value ? (
        <button type="button" class="primary" aria-busy={busy} onClick={upgrade}>
          {t('Update to {latest_version}', { latest_version: one.latest_version ?? '' })}
        </button>
      ) : (
        <p class="hint">{t('A workspace admin can update it.')}</p>
      )}
    </div>
  )
}

/** An agent that nobody consents to any more: connect it again, or uninstall it. */
const Withdrawn = ({ one, at }: { one: Installation; at: string }) => {
  const { slug } = one.app
  const link = useData(`installations link ${slug}`, () =>
    unwrap(api.GET('/console/install/{slug}', { params: { path: { slug } } })),
  )
  const app = link.data?.app
  const address = app?.needs_oauth ? safeUrl(app.install_url) : undefined
  const outside = address ? { target: '_blank', rel: 'noopener noreferrer' } : {}
  return (
    <div class="card urgent">
      <h2>{t('Access withdrawn')}</h2>
      <p>
        {rich(
          'This agent no longer has access to the workspace ({time}). Its runs were cancelled, and it receives nothing. Reconnect it to use it again, or uninstall it.',
          { time: <When at={at} /> },
        )}
      </p>
      {isAdmin.value ? (
        <div class="actions">
          <a class="button primary" href={address ?? `#/marketplace/${slug}`} {...outside}>
            {t('Reconnect')}
          </a>
          <Uninstall one={one} />
        </div>
      ) : (
        <p class="hint">{t('A workspace admin can reconnect or uninstall it.')}</p>
      )}
    </div>
  )
}

const Uninstall = ({ one }: { one: Installation }) => (
  <Confirm
    label={t('Uninstall {name}', { name: one.app.name })}
    title={t('Uninstall {name}?', { name: one.app.name })}
    verb={t('Uninstall')}
    act={async () => {
      await unwrap(api.DELETE('/console/installations/{id}', { params: { path: { id: one.id } } }))
      announce(t('{name} was uninstalled.', { name: one.app.name }))
      navigate('/agents')
      await refresh('installations')
    }}
  >
    <p>
      {t(
        'Its runs are cancelled, its pending approvals are dropped and its settings are deleted right away. You can’t undo this. If you install it again, the rules, budgets and pauses that apply to it still do.',
      )}
    </p>
  </Confirm>
)

const Policy = ({ one }: { one: Installation }) => {
  const [callers, setCallers] = useState<'all' | 'none' | 'some'>(
    one.allowed_callers === null ? 'all' : one.allowed_callers.length === 0 ? 'none' : 'some',
  )
  const [names, setNames] = useState((one.allowed_callers ?? []).join('\n'))
  const [denied, setDenied] = useState<readonly string[]>(one.denied_tools)
  const send = async (): Promise<void> => {
    const list = names.split(/[\s,]+/).filter(Boolean)
    const allowed_callers = callers === 'all' ? null : callers === 'none' ? [] : list
    const body = { allowed_callers, denied_tools: denied as ToolName[] }
    await unwrap(api.PUT('/console/installations/{id}/policy', { params: { path: { id: one.id } }, body }))
    announce(t('Rules saved. Changes apply to the next call.'))
    await refresh('installations')
  }
  return (
    <Form verb={t('Save rules')} send={send}>
      <fieldset>
        <legend>{t('Agents that can call this agent')}</legend>
        {(
          [
            ['all', t('All agents in the workspace')],
            ['some', t('Only these')],
            ['none', t('None')],
          ] as const
        ).map(([value, label]) => (
          <label class="tick" key={value}>
            <input type="radio" name="callers" checked={callers === value} onChange={() => setCallers(value)} />
            <span>{label}</span>
          </label>
        ))}
        {callers === 'some' && (
          <>
            <label class="unseen" for="callers">
              {t('Agent names, one per line')}
            </label>
            <textarea
              id="callers"
              rows={3}
              placeholder="stock-helper"
              value={names}
              onInput={(event) => setNames(event.currentTarget.value)}
            />
          </>
        )}
      </fieldset>
      <ToolTicks legend={t('Blocked platform tools')} chosen={denied} onChange={setDenied} />
    </Form>
  )
}

const Settings = ({ one }: { one: Installation }) => {
  const settings = useData(`installations settings ${one.id} ${one.agent.version}`, () =>
    unwrap(api.GET('/console/installations/{id}/settings', { params: { path: { id: one.id } } })),
  )
  return (
    <Shown known={settings} rows={2}>
      {(data) => (
        <>
          {!data.settings_complete && (
            <p class="note warn">
              {rich('<strong>Some settings are missing.</strong> The agent may not work without them.', {
                strong: (text) => <strong>{text}</strong>,
              })}
            </p>
          )}
          {!isAdmin.value && <p class="hint">{t('Workspace admins can change these settings.')}</p>}
          <SettingsForm id={one.id} schema={data.schema as never} values={data.values} readOnly={!isAdmin.value} />
        </>
      )}
    </Shown>
  )
}

const Grants = ({ id }: { id: string }) => {
  const grants = useData('installations grants of', () =>
    unwrap(api.GET('/console/grants', { params: { query: { limit: 100 } } })),
  )
  const own =
    grants.data?.items.flatMap((grant) => (grant.kind === 'app' && grant.installation_id === id ? [grant] : [])) ?? []
  if (own.length === 0) return null
  return (
    <section class="section" aria-labelledby="grants">
      <h2 id="grants">{t('External access')}</h2>
      {own.map((grant) => (
        <GrantCard key={grant.id} grant={grant} />
      ))}
    </section>
  )
}

/** Scopes that an agent needs to answer in a conversation. */
const CHAT = ['chat:read', 'chat:write']

const Chat = ({ id }: { id: string }) => {
  const { busy, failure, act } = useAction()
  return (
    <>
      {failure && <Problem failure={failure} />}
      <button
        type="button"
        class="primary"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            const body: Schemas['OpenChat'] = { installation_id: id }
            const chat = await unwrap(api.POST('/console/conversations', { body }))
            navigate(`/chat/${chat.id}`)
          })
        }
      >
        {t('Start a conversation')}
      </button>
    </>
  )
}

export default function AgentScreen({ id }: { id: string }) {
  const agent = useData<Installation>(`installations one ${id}`, () =>
    unwrap(api.GET('/console/installations/{id}', { params: { path: { id } } })),
  )
  return (
    <Screen title={agent.data?.app.name ?? t('Agent')} back={{ to: '/agents', label: t('Agents') }}>
      <Shown known={agent} rows={4}>
        {(one) => {
          const gone = one.status === 'revoked'
          return (
            <>
              <div class="row plain folds">
                <Logo name={one.app.name} path={one.app.logo_path} />
                <span class="grow">
                  <span>
                    <Name>{one.agent.id}</Name> · {one.agent.version}
                  </span>
                  <span class="soft">
                    {rich('Installed by {name} {time}', {
                      name: <Name>{one.owner.name}</Name>,
                      time: <When at={one.created_at} />,
                    })}
                  </span>
                </span>
                <InstallationState one={one} />
              </div>
              {!gone && (
                <div class="actions">
                  {one.status === 'active' &&
                    one.withdrawn_at === null &&
                    CHAT.every((scope) => one.scopes.includes(scope)) && <Chat id={id} />}
                  {one.app.status === 'approved' && (
                    <a class="button" href={`#/marketplace/${one.app.slug}`}>
                      {t('View in marketplace')}
                    </a>
                  )}
                </div>
              )}
              {!gone && one.withdrawn_at !== null && (
                <div class="section">
                  <Withdrawn one={one} at={one.withdrawn_at} />
                </div>
              )}
              {one.upgrade_available && !gone && (
                <div class="section">
                  <Upgrade one={one} />
                </div>
              )}
              {one.status === 'active' && one.withdrawn_at === null && <ScheduleProposals installationId={id} />}
              <section class="section" aria-labelledby="rights">
                <h2 id="rights">{t('Permissions')}</h2>
                <ScopeList scopes={one.scopes} />
              </section>
              {!gone && (
                <section class="section card" aria-labelledby="settings">
                  <h2 id="settings">{t('Settings')}</h2>
                  <Settings one={one} />
                </section>
              )}
              {!gone && (
                <section class="section card" aria-labelledby="rules">
                  <h2 id="rules">{t('Rules')}</h2>
                  {isOwner.value ? (
                    <Policy key={one.updated_at} one={one} />
                  ) : (
                    <p class="soft">
                      {t('Workspace owners control which agents can call this agent and which tools it can use.')}
                    </p>
                  )}
                </section>
              )}
              <Grants id={id} />
              <Reviews appId={one.app.id} mayWrite={!gone} />
              {!gone && one.withdrawn_at === null && isAdmin.value && (
                <section class="section card" aria-labelledby="uninstall">
                  <h2 id="uninstall">{t('Uninstall')}</h2>
                  <p>
                    {t(
                      'Uninstalling stops its runs, revokes its access and deletes its settings. Its history stays available.',
                    )}
                  </p>
                  <Uninstall one={one} />
                </section>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
