import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { bytes } from '../../../ui/format.ts'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Download } from './download.tsx'

export type StoredFile = Schemas['StoredFile']
export type Folder = Schemas['Folder']

const Preview = part(async () => ({ default: (await import('./preview.tsx')).Preview }))

/** Longest name, in characters. */
const LONGEST = 255

export const NewFolder = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/console/files', { body: { kind: 'folder', name: name.trim() } }))
    await refresh('files')
  }
  return (
    <Modal title={t('New folder')} onClose={onClose}>
      <Form verb={t('Create')} send={send} done={onClose}>
        <TextField label={t('Name')} required maxLength={LONGEST} value={name} onText={setName} />
      </Form>
    </Modal>
  )
}

export const RenameFolder = ({ folder, onClose }: { folder: Folder; onClose: () => void }) => {
  const [name, setName] = useState(folder.name)
  const send = async (): Promise<void> => {
    const params = { path: { id: folder.id } }
    await unwrap(api.PATCH('/console/folders/{id}', { params, body: { name: name.trim() } }))
    announce(t('Folder renamed.'))
    await refresh('files')
  }
  return (
    <Modal title={t('Rename folder')} onClose={onClose}>
      <Form verb={t('Rename')} send={send} done={onClose}>
        <TextField label={t('Name')} required maxLength={LONGEST} value={name} onText={setName} />
      </Form>
    </Modal>
  )
}

export const DeleteFolder = ({ folder, done }: { folder: Folder; done: () => void }) => (
  <Confirm
    label={t('Delete folder')}
    title={t('Delete {name}?', { name: folder.name })}
    verb={t('Delete folder')}
    act={async () => {
      await unwrap(api.DELETE('/console/folders/{id}', { params: { path: { id: folder.id } } }))
      announce(t('Folder deleted. Its files aren’t in a folder any more.'))
      done()
      await refresh('files')
    }}
  >
    <p>{t('Its files are kept and move to “Not in a folder”. You can’t undo this.')}</p>
  </Confirm>
)

export const DeleteFile = ({ file, quiet }: { file: StoredFile; quiet?: boolean }) => (
  <Confirm
    {...(quiet && { quiet })}
    label={rich('Delete{name}', { name: <span class="unseen"> {file.name}</span> })}
    title={t('Delete {name}?', { name: file.name })}
    verb={t('Delete')}
    act={async () => {
      await unwrap(api.DELETE('/console/files/{id}', { params: { path: { id: file.id } } }))
      announce(t('File deleted.'))
      await refresh('files')
    }}
  >
    <p>{t('People and agents in this workspace will lose access to it. You can’t undo this.')}</p>
  </Confirm>
)

const patchFile = async (id: string, body: { name?: string; folder_id?: string | null }): Promise<void> => {
  await unwrap(api.PATCH('/console/files/{id}', { params: { path: { id } }, body }))
  await refresh('files')
}

export const RenameFile = ({ file, onClose }: { file: StoredFile; onClose: () => void }) => {
  const [name, setName] = useState(file.name)
  const send = async (): Promise<void> => {
    await patchFile(file.id, { name: name.trim() })
    announce(t('File renamed.'))
  }
  return (
    <Modal title={t('Rename file')} onClose={onClose}>
      <Form verb={t('Rename')} send={send} done={onClose}>
        <TextField
          label={t('Name')}
          hint={t('Messages and tasks keep the name that the file had when it was attached.')}
          required
          maxLength={LONGEST}
          value={name}
          onText={setName}
        />
      </Form>
    </Modal>
  )
}

export const MoveFile = ({
  file,
  folders,
  onClose,
}: {
  file: StoredFile
  folders: readonly Folder[]
  onClose: () => void
}) => {
  const [folder, setFolder] = useState(file.folder_id ?? '')
  const send = async (): Promise<void> => {
    await patchFile(file.id, { folder_id: folder || null })
    announce(t('File moved.'))
  }
  return (
    <Modal title={t('Move file')} onClose={onClose}>
      <Form verb={t('Move')} send={send} done={onClose}>
        <Field label={t('Folder')}>
          {(field) => (
            <select {...field} value={folder} onChange={({ currentTarget }) => setFolder(currentTarget.value)}>
              <option value="">{t('Not in a folder')}</option>
              {folders.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  )
}

const sentence = ({ created_at, read_at, changed_at }: Schemas['FileUse']) => {
  const parts: [verb: string, at: string | null][] = [
    [t('created it'), created_at],
    [t('changed it'), changed_at],
    [t('read it'), read_at],
  ]
  return parts
    .filter((part): part is [string, string] => part[1] !== null)
    .map(([verb, at], i) => (
      <span key={verb}>
        {i > 0 && ' · '}
        {verb} <When at={at} />
      </span>
    ))
}

/** List of the people and agents that created, read and changed a file. */
const Uses = ({ id }: { id: string }) => {
  const known = useData<{ items: Schemas['FileUse'][] }>(`file uses ${id}`, () =>
    unwrap(api.GET('/console/files/{id}/uses', { params: { path: { id } } })),
  )
  return (
    <Shown known={known} rows={2}>
      {({ items }) => (
        <ul class="uses">
          {items.map((use) => (
            <li key={use.actor.id}>
              <strong>
                <Name>{use.actor.name}</Name>
              </strong>{' '}
              <span class="soft">{sentence(use)}</span>
              {use.runs.length > 0 && (
                <span class="soft">
                  {' '}
                  {rich('in {runs}', {
                    runs: use.runs.map((run, i) => (
                      <span key={run.id}>
                        {i > 0 && ', '}
                        <a href={`#/runs/${run.id}`}>{rich('the run of {time}', { time: <When at={run.at} /> })}</a>
                      </span>
                    )),
                  })}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Shown>
  )
}

/** A file: its content, what can be done with it, and who used it. */
export const FileDialog = ({
  file,
  onRename,
  onMove,
  onClose,
}: {
  file: StoredFile
  onRename: () => void
  onMove: () => void
  onClose: () => void
}) => {
  const [asked, setAsked] = useState(false)
  return (
    <Modal title={file.name} onClose={onClose}>
      <p class="soft">
        {bytes(file.size)} · <Name>{file.content_type}</Name> · <Name>{file.created_by.name}</Name> ·{' '}
        <When at={file.created_at} />
      </p>
      {file.status === 'ready' ? <Preview file={file} /> : <p class="soft">{t('The upload hasn’t arrived yet.')}</p>}
      <div class="actions">
        {file.status === 'ready' && <Download id={file.id} name={file.name} as="button" />}
        <button type="button" onClick={onRename}>
          {t('Rename')}
        </button>
        <button type="button" onClick={onMove}>
          {t('Move')}
        </button>
        <DeleteFile file={file} />
      </div>
      <details class="used" onToggle={({ currentTarget }) => setAsked(currentTarget.open)}>
        <summary>{t('Who used it')}</summary>
        {asked && <Uses id={file.id} />}
      </details>
    </Modal>
  )
}
