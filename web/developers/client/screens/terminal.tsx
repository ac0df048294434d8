import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { place } from '../../../ui/router.ts'
import { Empty, Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { codeOf, seal } from '../seal.ts'
import { may } from '../ui/roles.ts'

/** A public key on P-256, uncompressed, as base64url. */
const PUBLIC_KEY = /^[\w-]{87}$/

interface Asked {
  port: number
  key: string
  name: string
}

const asked = (query: URLSearchParams): Asked | undefined => {
  const port = Number(query.get('port'))
  const key = query.get('key') ?? ''
  if (!Number.isInteger(port) || port < 1_024 || port > 65_535 || !PUBLIC_KEY.test(key)) return undefined
  return { port, key, name: (query.get('name') ?? '').slice(0, 60) || t('this machine') }
}

const DAYS = 90

/** Asks whether the command-line tool on this machine may act for the account, and hands it a key of its own. */
const Question = ({ port, key, name }: Asked) => {
  const [code, setCode] = useState('')
  const { busy, failure, act } = useAction()
  useEffect(() => void codeOf(key).then(setCode), [key])
  // The tool listens on this machine only, and what it gets is encrypted for it.
  const answer = (query: Record<string, string>): void =>
    location.assign(`http://127.0.0.1:${port}/signed-in?${new URLSearchParams(query)}`)
  const allow = async (): Promise<void> => {
    // Names of keys are unique, and one machine may sign in again.
    const body = { name: `aip on ${name} (${code})`, expires_in_days: DAYS }
    const { api_key, expires_at } = await unwrap(api.POST('/api/v1/dev/me/keys', { body }))
    answer({ sealed: await seal(key, { api_key, expires_at, email: identity.value?.email }) })
  }
  return (
    <section class="card">
      <p>
        {rich(
          'The command-line tool on {name} asks for a key of its own. With it, the tool can do everything that your account can. It ends after {DAYS} days, and you can delete it under <link>Account</link>.',
          { name: <Name>{name}</Name>, DAYS, link: (text) => <a href="#/account">{text}</a> },
        )}
      </p>
      <p>{t('Check that your terminal shows the same code:')}</p>
      <p class="code-word">
        <strong>{code}</strong>
      </p>
      <p class="note">{t('Allow this only if you’ve just run “aip login” yourself.')}</p>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="button" class="primary" aria-busy={busy} disabled={code === ''} onClick={() => act(allow)}>
          {t('Allow')}
        </button>
        <button type="button" onClick={() => answer({ denied: 'true' })}>
          {t('Don’t allow')}
        </button>
      </div>
    </section>
  )
}

export default function Terminal({ result }: { result?: string }) {
  const request = asked(place.value.query)
  return (
    <Screen title={t('Sign in to the command line')}>
      {result === 'done' ? (
        <Empty title={t('The command line is signed in')}>
          <p>{t('Go back to your terminal. You can close this page.')}</p>
        </Empty>
      ) : result === 'denied' ? (
        <Empty title={t('Nothing was allowed')}>
          <p>{t('The command line got no key. You can close this page.')}</p>
        </Empty>
      ) : request && !may('POST /api/v1/dev/me/keys') ? (
        <Empty title={t('Owners create keys')}>
          <p>
            {t(
              'The command line needs a key, and your role can’t create one. Ask an owner of the account for a key, and give it to the command line with “aip login --with-key”.',
            )}
          </p>
        </Empty>
      ) : request ? (
        <Question {...request} />
      ) : (
        <Empty title={t('This link is incomplete')}>
          <p>{t('Run “aip login” again, and open the whole address that it prints.')}</p>
        </Empty>
      )}
    </Screen>
  )
}
