import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State } from '../../../ui/text.tsx'
import { type Identity, identity, reloadIdentity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { slugOf } from '../templates.ts'
import { may, roleLabel } from '../ui/roles.ts'
import { Keys } from './account/keys.tsx'
import { Passkeys } from './account/passkeys.tsx'
import { Sessions } from './account/sessions.tsx'

const Email = ({ who }: { who: Identity }) => {
  const [isSent, setSent] = useState(false)
  const [code, setCode] = useState('')
  const { busy, failure, act } = useAction()
  const isAllowed = may('POST /api/v1/dev/me/email-proof') && may('POST /api/v1/dev/me/email-proof/confirm')
  if (who.email_verified || !isAllowed) return null
  const confirm = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/me/email-proof/confirm', { body: { token: code.trim() } }))
    await reloadIdentity()
    announce(t('Your email address is confirmed.'))
  }
  return (
    <section class="section card">
      <h2>{t('Confirm your email address')}</h2>
      <p>
        {t(
          'Most platforms require it before you can submit an app for review, and it lets you back in if you lose your passkey or your key. Confirm it with a code, and your keys keep working. If you confirm it by signing in with a link instead, keys made before that end.',
        )}
      </p>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button
          type="button"
          aria-busy={busy}
          onClick={() =>
            act(async () => {
              await unwrap(api.POST('/api/v1/dev/me/email-proof'))
              setSent(true)
            })
          }
        >
          {t('Send a code')}
        </button>
      </div>
      {isSent && (
        <Form verb={t('Confirm')} send={confirm}>
          <TextField
            label={t('Code')}
            hint={t('Sent to {email}. It works once, within an hour.', { email: who.email })}
            value={code}
            required
            maxLength={100}
            autocomplete="one-time-code"
            spellcheck={false}
            onText={setCode}
          />
        </Form>
      )}
    </section>
  )
}

const Vendor = ({ who }: { who: Identity }) => {
  const [vendor, setVendor] = useState(slugOf(who.company ?? who.name))
  if (who.vendor || !may('POST /api/v1/dev/me/vendor')) return null
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/me/vendor', { body: { vendor } }))
    await reloadIdentity()
    announce(t('The vendor name is yours.'))
  }
  return (
    <section class="section card">
      <h2>{t('Claim your vendor name')}</h2>
      <p>
        {rich(
          'The first part of your manifests’ IDs, such as <code>acme</code> in <code>acme.stock-helper</code>. You can’t change it later.',
          { code: (text) => <code>{text}</code> },
        )}
      </p>
      <Form verb={t('Claim')} send={send}>
        {(failure) => (
          <TextField
            label={t('Vendor name')}
            value={vendor}
            required
            maxLength={40}
            spellcheck={false}
            problem={fieldProblems(failure).vendor}
            onText={setVendor}
          />
        )}
      </Form>
    </section>
  )
}

const Apply = () => {
  const [text, setText] = useState({ legal_name: '', website: '', contact_email: '', country: '', about: '' })
  const set = (name: keyof typeof text) => (value: string) => setText((now) => ({ ...now, [name]: value }))
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/verification', { body: text }))
    await refresh('verification')
  }
  return (
    <details>
      <summary>{t('Apply for the badge')}</summary>
      <Form verb={t('Apply')} send={send}>
        {(failure) => {
          const wrong = fieldProblems(failure)
          return (
            <>
              <TextField
                label={t('Legal name')}
                value={text.legal_name}
                required
                problem={wrong.legal_name}
                onText={set('legal_name')}
              />
              <TextField
                label={t('Website')}
                type="url"
                value={text.website}
                required
                problem={wrong.website}
                onText={set('website')}
              />
              <TextField
                label={t('Contact address')}
                type="email"
                value={text.contact_email}
                required
                problem={wrong.contact_email}
                onText={set('contact_email')}
              />
              <TextField
                label={t('Country')}
                hint={t('Two letters, such as NL.')}
                value={text.country}
                required
                maxLength={2}
                problem={wrong.country}
                onText={set('country')}
              />
              <TextField
                label={t('About your company')}
                rows={4}
                value={text.about}
                required
                problem={wrong.about}
                onText={set('about')}
              />
            </>
          )
        }}
      </Form>
    </details>
  )
}

const Badge = () => {
  const known = useData('verification', () => unwrap(api.GET('/api/v1/dev/verification')))
  return (
    <section class="section card">
      <h2>{t('Verified badge')}</h2>
      <Shown known={known} rows={1}>
        {({ verified, application }) => (
          <>
            <p>
              {verified
                ? t('✓ Your apps have the badge.')
                : t('Moderators check who you are. Your apps then have a badge in the marketplace.')}
            </p>
            {application && (
              <p>
                {t('Your application:')} <State name={application.status} />
              </p>
            )}
            {application?.reason && <Prose text={application.reason} />}
            {!verified && application?.status !== 'pending' && may('POST /api/v1/dev/verification') && <Apply />}
          </>
        )}
      </Shown>
    </section>
  )
}

export default function Account() {
  const who = identity.value
  if (!who) return null
  return (
    <Screen title={t('Account')}>
      <dl class="facts">
        <dt>{t('Name')}</dt>
        <dd>
          <Name>{who.name}</Name>
        </dd>
        {who.company && (
          <>
            <dt>{t('Company')}</dt>
            <dd>
              <Name>{who.company}</Name>
            </dd>
          </>
        )}
        <dt>{t('Email')}</dt>
        <dd>
          <Name>{who.email}</Name>{' '}
          {who.email_verified ? (
            <State name="ok" label={t('Confirmed')} />
          ) : (
            <State name="pending" label={t('Not confirmed')} />
          )}
        </dd>
        <dt>{t('Vendor name')}</dt>
        <dd>{who.vendor ?? t('Not claimed yet')}</dd>
        <dt>{t('Account')}</dt>
        <dd>
          <code>{who.id}</code>
        </dd>
        <dt>{t('You')}</dt>
        <dd>
          {who.member ? <Name>{who.member.name ?? who.member.email}</Name> : t('Signed in with a key')},{' '}
          {roleLabel(who.role)}
        </dd>
      </dl>
      <Email who={who} />
      <Vendor who={who} />
      <Passkeys who={who} />
      <Keys />
      <Sessions />
      <Badge />
    </Screen>
  )
}
