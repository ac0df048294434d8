import { rich, t } from '../../../../ui/messages.ts'
import { PasskeyList, type PasskeyPage } from '../../../../ui/passkeys.tsx'
import { type Identity, signInAgain } from '../../account.ts'
import { api, unwrap } from '../../api.ts'

const PAGE: PasskeyPage = {
  calls: {
    begin: () => unwrap(api.POST('/api/v1/dev/me/passkeys/options')),
    add: (body) => unwrap(api.POST('/api/v1/dev/me/passkeys', { body: body as never })),
    remove: (id) => unwrap(api.DELETE('/api/v1/dev/me/passkeys/{id}', { params: { path: { id } } })),
    list: () => unwrap(api.GET('/api/v1/dev/me/passkeys')),
  },
  signInAgain,
  added: (time) => rich('Added {time}', { time }),
  row: 'row folds',
  removeButton: 'quiet',
}

/** The passkeys of the teammate who signed in. Sessions opened with a key have none, because keys belong to machines. */
export const Passkeys = ({ who }: { who: Identity }) => (
  <section class="section">
    <h2>{t('Passkeys')}</h2>
    {who.member ? (
      <>
        <p class="soft">
          {t(
            'Sign in with this device’s fingerprint, face or PIN, or with a security key. If you lose it, sign in by email and add another.',
          )}
        </p>
        <PasskeyList page={PAGE} unsupported={t('Your browser doesn’t support passkeys on this page.')} />
      </>
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
