import { useEffect, useRef, useState } from 'preact/hooks'
import { resolveUrl } from '../../session/config.ts'
import { hasPasskeys } from '../../session/passkey.ts'
import { Brand } from '../../ui/brand.tsx'
import { TextField } from '../../ui/form.tsx'
import { t } from '../../ui/messages.ts'
import { Problem } from '../../ui/problem.tsx'
import { invitation, signIn, signInByPasskey } from './account.ts'
import { api, type Schemas, unwrap } from './api.ts'
import { Join } from './join.tsx'
import { useSending } from './sending.ts'
import { Secret } from './ui/secret.tsx'

const ByMail = () => {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState('')
  const { busy, failure, send } = useSending(async () => {
    await unwrap(api.POST('/api/v1/dev/sign-in', { body: { email: email.trim() } }))
    setSentTo(email.trim())
  })
  return (
    <form onSubmit={send}>
      <TextField
        label={t('Email')}
        type="email"
        value={email}
        required
        maxLength={254}
        autocomplete="email"
        onText={setEmail}
      />
      {failure && <Problem failure={failure} />}
      {sentTo && (
        <p class="note" role="status">
          {t('If there’s an account with {sentTo}, a link is on its way. It works once, within an hour.', { sentTo })}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Email me a link')}
        </button>
      </div>
      <p class="hint">{t('Lost your passkey or your key? The link signs you in without them.')}</p>
    </form>
  )
}

const ByPasskey = () => {
  const { busy, failure, send } = useSending(signInByPasskey)
  return (
    <form onSubmit={send}>
      {failure && (
        <>
          <Problem failure={failure} />
          <p class="hint">{t('Lost it? Get a link by email above, and add another passkey under Account.')}</p>
        </>
      )}
      <div class="actions">
        <button type="submit" aria-busy={busy}>
          {t('Sign in with a passkey')}
        </button>
      </div>
    </form>
  )
}

const ByKey = () => {
  const [key, setKey] = useState('')
  const { busy, failure, send } = useSending(() => signIn({ api_key: key.trim() }))
  return (
    <form onSubmit={send}>
      <TextField
        label={t('Developer key')}
        type="password"
        hint={t('Starts with dvk_. The page keeps a session of 12 hours, not the key.')}
        value={key}
        required
        maxLength={100}
        autocomplete="off"
        spellcheck={false}
        onText={setKey}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" aria-busy={busy}>
          {t('Sign in with the key')}
        </button>
      </div>
    </form>
  )
}

const Register = ({ registered }: { registered: (made: Schemas['RegisteredDeveloper']) => void }) => {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const { busy, failure, send } = useSending(async () =>
    registered(await unwrap(api.POST('/api/v1/dev/register', { body: { name: name.trim(), email: email.trim() } }))),
  )
  return (
    <form onSubmit={send}>
      <TextField label={t('Name')} value={name} required maxLength={100} autocomplete="name" onText={setName} />
      <TextField
        label={t('Email')}
        type="email"
        value={email}
        required
        maxLength={254}
        autocomplete="email"
        onText={setEmail}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Create account')}
        </button>
      </div>
    </form>
  )
}

const Registered = ({ made }: { made: Schemas['RegisteredDeveloper'] }) => {
  const { busy, failure, send } = useSending(() => signIn({ api_key: made.api_key }))
  return (
    <form onSubmit={send}>
      <p>{t('Your account and its sandbox workspace are ready. Store the key for your machines now.')}</p>
      <Secret label={t('Developer key')} value={made.api_key} />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Continue')}
        </button>
      </div>
    </form>
  )
}

const TITLES = {
  join: t('Join a team'),
  sign_in: t('Sign in'),
  register: t('Create an account'),
  registered: t('Your developer key'),
}

/** Sign-in and registration. @param note why the page asks */
export default function SignIn({ note }: { note: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [wants, setWants] = useState<'sign_in' | 'register'>('sign_in')
  const [made, setMade] = useState<Schemas['RegisteredDeveloper']>()
  const code = invitation.value
  const step = code ? 'join' : made ? 'registered' : wants
  useEffect(() => {
    document.title = t('{step} · Developers', { step: TITLES[step] })
    heading.current?.focus({ preventScroll: true })
  }, [step])
  return (
    <main class="alone">
      <Brand />
      <h1 ref={heading} tabIndex={-1}>
        {TITLES[step]}
      </h1>
      {code && <Join code={code} />}
      {step === 'registered' && made && <Registered made={made} />}
      {step === 'register' && (
        <>
          <p>{t('You get a developer key, and a sandbox workspace to test your agents in.')}</p>
          <Register registered={setMade} />
          <p class="section">
            <button type="button" class="quiet" onClick={() => setWants('sign_in')}>
              {t('I have an account')}
            </button>
          </p>
        </>
      )}
      {step === 'sign_in' && (
        <>
          {note && <p role="status">{note}</p>}
          <p>{t('Build agents and integrations, test them, and follow their runs.')}</p>
          <ByMail />
          {hasPasskeys && <ByPasskey />}
          <details>
            <summary>{t('Use a developer key')}</summary>
            <ByKey />
          </details>
          <p class="section">
            {t('No account yet?')}{' '}
            <button type="button" class="quiet" onClick={() => setWants('register')}>
              {t('Create an account')}
            </button>
          </p>
        </>
      )}
      <p class="hint">
        <a href={resolveUrl('docs')}>{t('Documentation')}</a>
      </p>
    </main>
  )
}
