import { useEffect, useState } from 'preact/hooks'
import { loadItem, removeItem, saveItem } from '../../../session/store.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Changes } from '../../../ui/manifest-changes.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { More, Shown } from '../../../ui/screen.tsx'
import { Json, State, When } from '../../../ui/text.tsx'
import { identity, reloadIdentity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { draftKey, firstManifest } from '../templates.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { ManifestEditor, refusedIn, useFindings } from '../ui/manifest-editor.tsx'
import { may, refusalOf } from '../ui/roles.ts'

/** The screen reads no part of the manifest, so its type stays simple. */
type Version = Omit<Schemas['Version'], 'manifest'> & { manifest: object }

/** Proposes the next version number. */
const nextVersion = (version: string): string => version.replace(/\d+$/, (last) => String(Number(last) + 1))

const startText = (app: App, newest: Version | undefined): string => {
  const draft = loadItem<string>(draftKey(app.id))
  if (draft !== undefined) return draft
  if (!newest) return firstManifest(app, identity.value)
  return JSON.stringify({ ...newest.manifest, version: nextVersion(newest.version) }, null, 2)
}

const parsed = (text: string): Schemas['Manifest'] | undefined => {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const Editor = ({ app, newest, live }: { app: App; newest: Version | undefined; live: Version | undefined }) => {
  const [text, setText] = useState(() => startText(app, newest))
  const checked = useFindings(app.id, text)
  const { busy, failure, act, clear } = useAction()
  // Errors that only publishing finds, such as an outside agent's unusable card.
  const findings = checked && failure ? [...checked, ...refusedIn(text, failure, checked)] : checked
  useEffect(() => saveItem(draftKey(app.id), text), [app.id, text])
  const manifest = parsed(text)
  const publish = async (): Promise<void> => {
    const params = { path: { id: app.id } }
    const version = await unwrap(api.POST('/api/v1/dev/apps/{id}/versions', { params, body: manifest as never }))
    removeItem(draftKey(app.id))
    announce(t('Version {version} is published.', { version: version.version }))
    await Promise.all([refresh('app'), reloadIdentity()])
  }
  const isValid = checked !== undefined && !checked.some(({ isError }) => isError)
  return (
    <section class="section">
      <h2>{t('New version')}</h2>
      <ManifestEditor
        text={text}
        findings={findings}
        onText={(changed) => {
          setText(changed)
          clear()
        }}
      />
      {live && manifest && (
        <details>
          <summary>{t('Compare with the live version {version}', { version: live.version })}</summary>
          <Changes from={live} to={{ version: manifest.version || 'this text', manifest }} />
        </details>
      )}
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button
          type="button"
          class="primary"
          aria-busy={busy}
          disabled={!isValid || !manifest}
          onClick={() => act(publish)}
        >
          {t('Publish')}
        </button>
      </div>
    </section>
  )
}

const Entry = ({ app, version, live }: { app: App; version: Version; live: Version | undefined }) => {
  const { busy, failure, act } = useAction()
  const promote = async (): Promise<void> => {
    const params = { path: { id: app.id, v: version.version } }
    await unwrap(api.POST('/api/v1/dev/apps/{id}/versions/{v}/promote', { params }))
    announce(t('New customers get version {version}.', { version: version.version }))
    await refresh('app')
  }
  return (
    <li>
      <details class="entry">
        <summary>
          <strong>{version.version}</strong> <State name={version.status} />{' '}
          {version.promoted && <span class="state act">{t('Live')}</span>}{' '}
          <span class="soft">
            <When at={version.created_at} />
          </span>
        </summary>
        <div class="evidence">
          {live && live.id !== version.id && <Changes from={live} to={version} />}
          <Json label={t('Manifest of {version}', { version: version.version })} value={version.manifest} />
        </div>
      </details>
      {version.card_change && (
        <p class="note warn">
          {version.card_change.problem === undefined
            ? t('Your agent’s card has changed since you published this version.')
            : t('Your agent’s card can’t be used anymore. {problem}', { problem: version.card_change.problem })}{' '}
          {t('Runs keep using the earlier card. Publish another version to use the current one.')}
        </p>
      )}
      {!version.promoted && version.status !== 'rejected' && may('POST /api/v1/dev/apps/{id}/versions/{v}/promote') && (
        <div class="promote">
          {failure && <Problem failure={failure} />}
          <button type="button" aria-busy={busy} onClick={() => act(promote)}>
            {t('Promote {version}', { version: version.version })}
          </button>
        </div>
      )}
    </li>
  )
}

const Versions = ({ app }: { app: App }) => {
  const refused = refusalOf('POST /api/v1/dev/apps/{id}/versions')
  const list = usePages<Version>(`app ${app.id} versions`, (cursor) =>
    unwrap(
      api.GET('/api/v1/dev/apps/{id}/versions', {
        params: { path: { id: app.id }, query: { limit: 20, ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <Shown known={list} rows={3}>
      {({ items }) => {
        const live = items.find(({ promoted }) => promoted)
        return (
          <>
            {items.length > 0 && (
              <section>
                <h2>{t('Published')}</h2>
                <ul class="rows">
                  {items.map((version) => (
                    <Entry key={version.id} app={app} version={version} live={live} />
                  ))}
                </ul>
                <More more={list.more} />
                {may('POST /api/v1/dev/apps/{id}/test-run') && (
                  <div class="actions">
                    <a class="button" href={`#/apps/${app.id}/test`}>
                      {t('Test it')}
                    </a>
                  </div>
                )}
              </section>
            )}
            {refused ? (
              <p class="hint">{refused}</p>
            ) : (
              <Editor key={items[0]?.id ?? ''} app={app} newest={items[0]} live={live} />
            )}
          </>
        )
      }}
    </Shown>
  )
}

export default function VersionsScreen({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Versions')}>
      {(app) => <Versions app={app} />}
    </AppScreen>
  )
}
