import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { type Identity, identity, reloadIdentity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { slugOf } from '../templates.ts'
import { Secret } from '../ui/secret.tsx'

const Email = ({ who }: { who: Identity }) => {
  const [isSent, setSent] = useState(false)
  const [code, setCode] = useState('')
  const { busy, failure, act } = useAction()
  if (who.email_verified) return null
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
  if (who.vendor) return null
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

const LIVES: Record<string, string> = { 30: '30 days', 90: '90 days', 365: 'A year' }

const NewKey = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [made, setMade] = useState<Schemas['NewNamedDeveloperKey']>()
  const send = async (): Promise<void> => {
    const body = { name: name.trim(), expires_in_days: Number(days) }
    setMade(await unwrap(api.POST('/api/v1/dev/me/keys', { body })))
    await refresh('keys')
  }
  return made ? (
    <Modal title="Store the key" onClose={onClose}>
      <Secret label={made.name} value={made.api_key} />
    </Modal>
  ) : (
    <Modal title="Create a key" onClose={onClose}>
      <Form verb="Create" send={send}>
        <TextField
          label="Name"
          hint="Such as the machine that uses it."
          value={name}
          required
          maxLength={100}
          onText={setName}
        />
        <Field label="Expires after">
          {(field) => (
            <select {...field} value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
              {Object.entries(LIVES).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  )
}

const Keys = () => {
  const [isOpen, setOpen] = useState(false)
  const known = useData('keys', () => unwrap(api.GET('/api/v1/dev/me/keys')))
  return (
    <section class="section">
      <div class="head">
        <h2>Keys</h2>
        <button type="button" onClick={() => setOpen(true)}>
          Create a key
        </button>
      </div>
      <p class="soft">
        For machines: CI, the command line, your server. Lost your main key? Sign in by email, and use a named key
        instead.
      </p>
      <Shown known={known} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">No named keys.</p>
          ) : (
            <ul class="rows">
              {items.map(({ id, name, created_at, expires_at }) => (
                <li class="row folds" key={id}>
                  <span class="grow">
                    <strong>
                      <Name>{name}</Name>
                    </strong>
                    <span class="soft">
                      Created <When at={created_at} />, expires <When at={expires_at} />
                    </span>
                  </span>
                  <Confirm
                    quiet
                    label="Delete"
                    title={`Delete the key ${name}?`}
                    verb="Delete"
                    act={async () => {
                      await unwrap(api.DELETE('/api/v1/dev/me/keys/{id}', { params: { path: { id } } }))
                      await refresh('keys')
                    }}
                  >
                    <p>Whatever uses it is refused from its next request.</p>
                  </Confirm>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {isOpen && <NewKey onClose={() => setOpen(false)} />}
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
            {!verified && application?.status !== 'pending' && <Apply />}
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
      </dl>
      <Email who={who} />
      <Vendor who={who} />
      <Keys />
      <Badge />
    </Screen>
  )
}
