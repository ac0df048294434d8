import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State } from '../../../ui/text.tsx'
import { type Identity, identity, reloadIdentity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { slugOf } from '../templates.ts'
import { may, roleLabel } from '../ui/roles.ts'
import { Keys } from './account/keys.tsx'
import { Passkeys } from './account/passkeys.tsx'

const Email = ({ who }: { who: Identity }) => {
  const [isSent, setSent] = useState(false)
  const [code, setCode] = useState('')
  const { busy, failure, act } = useAction()
  if (who.email_verified || !may('developer')) return null
  const confirm = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/me/email-proof/confirm', { body: { token: code.trim() } }))
    await reloadIdentity()
    announce('Your email address is confirmed.')
  }
  return (
    <section class="section card">
      <h2>Confirm your email address</h2>
      <p>
        Most platforms require it before an app can be submitted for review. You can get back in with it if you lose
        your keys. Confirm it with a code to keep them: a first sign-in by link ends all keys made before it.
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
          Send a code
        </button>
      </div>
      {isSent && (
        <Form verb="Confirm" send={confirm}>
          <TextField
            label="Code"
            hint={`Sent to ${who.email}. It works once, within an hour.`}
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
  if (who.vendor || !may('developer')) return null
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/me/vendor', { body: { vendor } }))
    await reloadIdentity()
    announce('The vendor name is yours.')
  }
  return (
    <section class="section card">
      <h2>Claim your vendor name</h2>
      <p>
        The first part of your manifests’ IDs, such as <code>acme</code> in <code>acme.stock-helper</code>. You can’t
        change it later.
      </p>
      <Form verb="Claim" send={send}>
        {(failure) => (
          <TextField
            label="Vendor name"
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
      <summary>Apply for the badge</summary>
      <Form verb="Apply" send={send}>
        {(failure) => {
          const wrong = fieldProblems(failure)
          return (
            <>
              <TextField
                label="Legal name"
                value={text.legal_name}
                required
                problem={wrong.legal_name}
                onText={set('legal_name')}
              />
              <TextField
                label="Website"
                type="url"
                value={text.website}
                required
                problem={wrong.website}
                onText={set('website')}
              />
              <TextField
                label="Contact address"
                type="email"
                value={text.contact_email}
                required
                problem={wrong.contact_email}
                onText={set('contact_email')}
              />
              <TextField
                label="Country"
                hint="Two letters, such as NL."
                value={text.country}
                required
                maxLength={2}
                problem={wrong.country}
                onText={set('country')}
              />
              <TextField
                label="About your company"
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
      <h2>Verified badge</h2>
      <Shown known={known} rows={1}>
        {({ verified, application }) => (
          <>
            <p>
              {verified
                ? '✓ Your apps have the badge.'
                : 'Moderators check who you are. Your apps then have a badge in the marketplace.'}
            </p>
            {application && (
              <p>
                Your application: <State name={application.status} />
              </p>
            )}
            {application?.reason && <Prose text={application.reason} />}
            {!verified && application?.status !== 'pending' && may('developer') && <Apply />}
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
    <Screen title="Account">
      <dl class="facts">
        <dt>Name</dt>
        <dd>
          <Name>{who.name}</Name>
        </dd>
        {who.company && (
          <>
            <dt>Company</dt>
            <dd>
              <Name>{who.company}</Name>
            </dd>
          </>
        )}
        <dt>Email</dt>
        <dd>
          <Name>{who.email}</Name>{' '}
          {who.email_verified ? <State name="ok" label="Confirmed" /> : <State name="pending" label="Not confirmed" />}
        </dd>
        <dt>Vendor name</dt>
        <dd>{who.vendor ?? 'Not claimed yet'}</dd>
        <dt>Account</dt>
        <dd>
          <code>{who.id}</code>
        </dd>
        <dt>You</dt>
        <dd>
          {who.member ? <Name>{who.member.name ?? who.member.email}</Name> : 'Signed in with a key'},{' '}
          {roleLabel(who.role)}
        </dd>
      </dl>
      <Email who={who} />
      <Vendor who={who} />
      <Passkeys who={who} />
      <Keys />
      <Badge />
    </Screen>
  )
}
