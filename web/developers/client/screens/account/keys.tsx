import { useState } from 'preact/hooks'
import { refresh, useData } from '../../../../ui/data.ts'
import { Confirm, Modal } from '../../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { rich, t } from '../../../../ui/messages.ts'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'
import { RoleField } from '../../ui/role-field.tsx'
import { may, type Role, roleLabel } from '../../ui/roles.ts'
import { Secret } from '../../ui/secret.tsx'

type Key = Schemas['NamedDeveloperKey']

const LIVES: Record<string, string> = { 7: t('A week'), 30: t('30 days'), 90: t('90 days'), 365: t('A year') }

const NewKey = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [days, setDays] = useState('90')
  const [made, setMade] = useState<Schemas['NewNamedDeveloperKey']>()
  const send = async (): Promise<void> => {
    const body = { name: name.trim(), role, expires_in_days: Number(days) }
    setMade(await unwrap(api.POST('/api/v1/dev/me/keys', { body })))
    await refresh('keys')
  }
  return made ? (
    <Modal title={t('Store the key')} onClose={onClose}>
      <Secret label={made.name} value={made.api_key} />
    </Modal>
  ) : (
    <Modal title={t('Create a key')} onClose={onClose}>
      <Form verb={t('Create')} send={send}>
        <TextField
          label={t('Name')}
          hint={t('Such as the machine that uses it.')}
          value={name}
          required
          maxLength={100}
          onText={setName}
        />
        <RoleField label={t('Scope')} value={role} onRole={setRole} />
        <Field label={t('Expires after')}>
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

const EditKey = ({ known, onClose }: { known: Key; onClose: () => void }) => {
  const [name, setName] = useState(known.name)
  const [role, setRole] = useState<Role>(known.role)
  const send = async (): Promise<void> => {
    const params = { path: { id: known.id } }
    await unwrap(api.PATCH('/api/v1/dev/me/keys/{id}', { params, body: { name: name.trim(), role } }))
    await refresh('keys')
  }
  return (
    <Modal title={t('Edit the key {name}', { name: known.name })} onClose={onClose}>
      <p class="soft">{t('Changes apply to the key’s next request. For another expiry, create another key.')}</p>
      <Form verb={t('Save')} send={send} done={onClose}>
        <TextField label={t('Name')} value={name} required maxLength={100} onText={setName} />
        <RoleField label={t('Scope')} value={role} onRole={setRole} />
      </Form>
    </Modal>
  )
}

const Entry = ({ known }: { known: Key }) => {
  const { id, name, role, created_at, expires_at, last_used_at } = known
  const [isOpen, setOpen] = useState(false)
  return (
    <li class="row folds">
      <span class="grow">
        <strong>
          <Name>{name}</Name>
        </strong>
        <span class="soft">
          {rich('{role} · created {time}, expires {time2} ·', {
            role: roleLabel(role),
            time: <When at={created_at} />,
            time2: <When at={expires_at} />,
          })}{' '}
          {last_used_at ? rich('last used {time}', { time: <When at={last_used_at} /> }) : t('not used yet')}
        </span>
      </span>
      {may('PATCH /api/v1/dev/me/keys/{id}') && (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          {rich('Edit<span> the key {name}</span>', {
            name: <Name>{name}</Name>,
            span: (text) => <span class="unseen">{text}</span>,
          })}
        </button>
      )}
      {may('DELETE /api/v1/dev/me/keys/{id}') && (
        <Confirm
          quiet
          label={t('Delete')}
          title={t('Delete the key {name}?', { name })}
          verb={t('Delete')}
          act={async () => {
            await unwrap(api.DELETE('/api/v1/dev/me/keys/{id}', { params: { path: { id } } }))
            await refresh('keys')
          }}
        >
          <p>{t('Whatever uses it is refused from its next request.')}</p>
        </Confirm>
      )}
      {isOpen && <EditKey known={known} onClose={() => setOpen(false)} />}
    </li>
  )
}

/** The account's named keys, for machines. */
export const Keys = () => {
  const [isOpen, setOpen] = useState(false)
  const known = useData('keys', () => unwrap(api.GET('/api/v1/dev/me/keys')))
  return (
    <section class="section">
      <div class="head">
        <h2>{t('Keys')}</h2>
        {may('POST /api/v1/dev/me/keys') && (
          <button type="button" onClick={() => setOpen(true)}>
            {t('Create a key')}
          </button>
        )}
      </div>
      <p class="soft">
        {t(
          'For machines: CI, the command line, your server. Lost your main key? Sign in by email, and use a named key instead.',
        )}
        {!may('POST /api/v1/dev/me/keys') && t(' Owners create and delete keys.')}
      </p>
      <Shown known={known} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">{t('No named keys.')}</p>
          ) : (
            <ul class="rows">
              {items.map((key) => (
                <Entry key={key.id} known={key} />
              ))}
            </ul>
          )
        }
      </Shown>
      {isOpen && <NewKey onClose={() => setOpen(false)} />}
    </section>
  )
}
