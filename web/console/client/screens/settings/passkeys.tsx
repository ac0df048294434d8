import { rich, t } from '../../../../ui/messages.ts'
import { PasskeyList, type PasskeyPage } from '../../../../ui/passkeys.tsx'
import { isOwner, signInAgain } from '../../account.ts'
import { api, unwrap } from '../../api.ts'

const PAGE: PasskeyPage = {
  calls: {
    begin: () => unwrap(api.POST('/console/passkeys/options')),
    add: (body) => unwrap(api.POST('/console/passkeys', { body: body as never })),
    remove: (id) => unwrap(api.DELETE('/console/passkeys/{id}', { params: { path: { id } } })),
    list: () => unwrap(api.GET('/console/passkeys')),
  },
  signInAgain,
  added: (time) => rich('added {time}', { time }),
  row: 'row',
  addButton: 'primary',
}

/** The user's passkeys. */
export const Passkeys = () => (
  <>
    <p>
      {t('A passkey signs you in with this device’s fingerprint, face or PIN, or with a security key.')}
      {isOwner.value && t(' If you lose your Telegram account, it’s how you get back into your workspace.')}
    </p>
    <PasskeyList
      page={PAGE}
      none={<p class="soft">{t('You have no passkeys yet.')}</p>}
      unsupported={t('Open the console in a browser to add one.')}
    />
  </>
)
