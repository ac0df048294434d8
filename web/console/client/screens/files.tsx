import { useRef, useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { bytes } from '../../../ui/format.ts'
import { Problem } from '../../../ui/problem.tsx'
import { place } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Download } from '../ui/download.tsx'
import { upload } from '../upload.ts'

type File = Schemas['File']
type Folder = Schemas['Folder']

const NewFolder = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/console/files', { body: { kind: 'folder', name: name.trim() } }))
    await refresh('files')
  }
  return (
    <Modal title="New folder" onClose={onClose}>
      <Form verb="Create" send={send} done={onClose}>
        <TextField label="Name" required maxLength={200} value={name} onText={setName} />
      </Form>
    </Modal>
  )
}

export default function Files() {
  const folder = place.value.query.get('folder') ?? ''
  const picker = useRef<HTMLInputElement>(null)
  const [creating, setCreating] = useState(false)
  const { busy, failure, act } = useAction()
  const folders = usePages<Folder>('files folders', async (cursor) => {
    const query = { kind: 'folder' as const, limit: 100, ...(cursor && { cursor }) }
    return (await unwrap(api.GET('/console/files', { params: { query } }))) as {
      items: Folder[]
      next_cursor: string | null
    }
  })
  const files = usePages<File>(`files in ${folder}`, async (cursor) => {
    const query = { folder_id: folder || 'root', ...(cursor && { cursor }) }
    return (await unwrap(api.GET('/console/files', { params: { query } }))) as {
      items: File[]
      next_cursor: string | null
    }
  })
  const here = folders.items?.find(({ id }) => id === folder)
  const send = (list: FileList | null) =>
    act(async () => {
      for (const file of list ?? []) await upload(file, folder || undefined)
      if (picker.current) picker.current.value = ''
      announce('Upload complete.')
      await refresh('files')
    })
  return (
    <Screen
      title={folder ? (here?.name ?? 'Folder') : 'Files'}
      {...(folder && { back: { to: '/files', label: 'Files' } })}
      actions={
        <>
          <input ref={picker} type="file" multiple hidden onChange={(event) => send(event.currentTarget.files)} />
          {!folder && (
            <button type="button" onClick={() => setCreating(true)}>
              New folder
            </button>
          )}
          <button type="button" class="primary" aria-busy={busy} onClick={() => picker.current?.click()}>
            {busy ? 'Uploading…' : 'Upload'}
          </button>
        </>
      }
    >
      {creating && <NewFolder onClose={() => setCreating(false)} />}
      {failure && <Problem failure={failure} />}
      {!folder && (folders.items?.length ?? 0) > 0 && (
        <section class="section first" aria-labelledby="folders">
          <h2 id="folders">Folders</h2>
          <ul class="rows">
            {folders.items?.map((one) => (
              <li key={one.id}>
                <a class="row" href={`#/files?folder=${one.id}`}>
                  <span class="grow">
                    <strong>
                      <Name>{one.name}</Name>
                    </strong>
                  </span>
                  <span class="soft">
                    <When at={one.created_at} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
          <More more={folders.more} />
        </section>
      )}
      <section class="section first" aria-labelledby="files">
        <h2 id="files" class={folder ? 'unseen' : ''}>
          {folder ? 'Files' : 'Not in a folder'}
        </h2>
        <Shown known={files} rows={4}>
          {({ items }) =>
            items.length === 0 && !files.more ? (
              <Empty title="No files yet">
                <p>
                  Agents with permission to read files can read your uploads. Files that agents save appear here, too.
                </p>
              </Empty>
            ) : (
              <ul class="rows">
                {items.map((file) => (
                  <li key={file.id} class="row folds">
                    <span class="grow">
                      {file.status === 'ready' ? (
                        <Download id={file.id} name={file.name} />
                      ) : (
                        <strong>
                          <Name>{file.name}</Name>
                        </strong>
                      )}
                      <span class="soft">
                        {bytes(file.size)} · <Name>{file.created_by.name}</Name> · <When at={file.created_at} />
                      </span>
                    </span>
                    {file.status === 'pending' && <State name="pending" label="Upload pending" />}
                    <Confirm
                      quiet
                      label={
                        <>
                          Delete<span class="unseen"> {file.name}</span>
                        </>
                      }
                      title={`Delete ${file.name}?`}
                      verb="Delete"
                      act={async () => {
                        await unwrap(api.DELETE('/console/files/{id}', { params: { path: { id: file.id } } }))
                        announce('File deleted.')
                        await refresh('files')
                      }}
                    >
                      <p>People and agents in this workspace will lose access to it. You can’t undo this.</p>
                    </Confirm>
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
        <More more={files.more} />
      </section>
    </Screen>
  )
}
