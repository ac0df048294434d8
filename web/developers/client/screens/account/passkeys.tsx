import { useState } from 'preact/hooks'
import type { Failure } from '../../../../session/failure.ts'
import { addPasskey, deviceName, hasPasskeys, removePasskey } from '../../../../session/passkey.ts'
import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { TextField } from '../../../../ui/form.tsx'
import { rich, t } from '../../../../ui/messages.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, When } from '../../../../ui/text.tsx'
import { type Identity, signInAgain } from '../../account.ts'
import { api, type Schemas, unwrap } from '../../api.ts'

const calls = {
  begin: () => unwrap(api.POST('/api/v1/dev/me/passkeys/options')),
  add: (body: object) => unwrap(api.POST('/api/v1/dev/me/passkeys', { body: body as never })),
  remove: (id: string) => unwrap(api.DELETE('/api/v1/dev/me/passkeys/{id}', { params: { path: { id } } })),
  list: () => unwrap(api.GET('/api/v1/dev/me/passkeys')),
}

/** An error, with a way to sign in again if the sign-in is too old. */
const Refusal = ({ failure }: { failure: Failure }) =>
  failure.code === 'confirmation_required' ? (
    <div class="note warn" role="alert">
      <p>{t('To protect your account, you can change passkeys only within 10 minutes of signing in.')}</p>
      <button type="button" onClick={() => void signInAgain(t('Sign in again to change your passkeys.'))}>
        {t('Sign in again')}
      </button>
    </div>
  ) : (
    <Problem failure={failure} />
  )

const Entry = ({ passkey }: { passkey: Schemas['Passkey'] }) => {
  const { busy, failure, act } = useAction()
  const remove = async (): Promise<void> => {
    await removePasskey(calls, passkey)
    announce(t('Passkey removed.'))
    await refresh('passkeys')
  }
  return (
    <li>
      <div class="row folds">
        <span class="grow">
          <strong>
            <Name>{passkey.name}</Name>
          </strong>
          <span class="soft">
            {rich('Added {time}', { time: <When at={passkey.created_at} /> })}
            {passkey.last_used_at && <> {rich('· last used {time}', { time: <When at={passkey.last_used_at} /> })}</>}
          </span>
        </span>
        <button type="button" class="quiet" aria-busy={busy} onClick={() => act(remove)}>
          {rich('Remove<span> the passkey {name}</span>', {
            name: <Name>{passkey.name}</Name>,
            span: (text) => <span class="unseen">{text}</span>,
          })}
        </button>
      </div>
      {failure && <Refusal failure={failure} />}
    </li>
  )
}

const Add = () => {
  const [name, setName] = useState(deviceName)
  const { busy, failure, act } = useAction()
  const add = async (): Promise<void> => {
    await addPasskey(calls, name.trim())
    announce(t('Passkey added.'))
    await refresh('passkeys')
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void act(add)
      }}
    >
      <TextField
        label={t('Name of the passkey')}
        required
        maxLength={100}
        autocomplete="off"
        value={name}
        onText={setName}
      />
      {failure && <Refusal failure={failure} />}
      <div class="actions">
        <button type="submit" aria-busy={busy}>
          {t('Add a passkey')}
        </button>
      </div>
    </form>
  )
}

const Own = () => {
  const known = useData('passkeys', calls.list)
  return (
    <>
      <p class="soft">
        {t(
          'Sign in with this device’s fingerprint, face or PIN, or with a security key. If you lose it, sign in by email and add another.',
        )}
      </p>
      <Shown known={known} rows={1}>
        {({ items }) =>
          items.length > 0 && (
            <ul class="rows">
              {items.map((passkey) => (
                <Entry key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </Shown>
      {hasPasskeys ? <Add /> : <p class="hint">{t('Your browser doesn’t support passkeys on this page.')}</p>}
    </>
  )
}

/** The passkeys of the teammate who signed in. Sessions opened with a key have none, because keys belong to machines. */
export const Passkeys = ({ who }: { who: Identity }) => (
  <section class="section">
    <h2>{t('Passkeys')}</h2>
    {who.member ? (
      <Own />
    ) : (
      <>
        <p class="soft">{t('You signed in with a key. To add a passkey, sign in by email.')}</p>
        <div class="actions">
          <button type="button" onClick={() => void signInAgain(t('Sign in by email to add a passkey.'))}>
            {t('Sign in by email')}
          </button>
        </div>
      </>
    )}
  </section>
)
