import { useState } from 'preact/hooks'
import { Field, Form } from '../../../ui/form.tsx'
import { bytes, humanize } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { watch } from '../api.ts'
import { downloadExport, type Exported, saveFile } from '../csv-export.ts'

const DATASETS = ['apps', 'developers', 'workspaces', 'installations', 'runs', 'reviews', 'audit'] as const

const day = (value: string): string => `${value}T00:00:00.000+00:00`

export default function Export() {
  const [dataset, setDataset] = useState<string>(DATASETS[0])
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const [size, setSize] = useState<number>()
  const [done, setDone] = useState<Exported>()
  return (
    <Screen title="Export">
      <p class="soft">
        Download records as CSV, with times in UTC. Cells that a spreadsheet would run as a formula are marked as text.
        Exports are recorded in the audit log.
      </p>
      <section class="card">
        <Form
          verb="Export"
          send={async () => {
            setDone(undefined)
            setSize(0)
            try {
              const range = { ...(since && { since: day(since) }), ...(until && { until: day(until) }) }
              const made = await watch(downloadExport(dataset, range, setSize))
              saveFile(made)
              setDone(made)
            } finally {
              setSize(undefined)
            }
          }}
        >
          <Field label="Records">
            {(field) => (
              <select {...field} value={dataset} onChange={({ currentTarget }) => setDataset(currentTarget.value)}>
                {DATASETS.map((one) => (
                  <option key={one} value={one}>
                    {humanize(one)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <div class="filters">
            <Field label="From (UTC)">
              {(field) => (
                <input
                  {...field}
                  type="date"
                  value={since}
                  onChange={({ currentTarget }) => setSince(currentTarget.value)}
                />
              )}
            </Field>
            <Field label="Before (UTC)">
              {(field) => (
                <input
                  {...field}
                  type="date"
                  value={until}
                  onChange={({ currentTarget }) => setUntil(currentTarget.value)}
                />
              )}
            </Field>
          </div>
        </Form>
        <div role="status">
          {size !== undefined && <p>Downloaded {bytes(size)} so far…</p>}
          {done?.whole && (
            <p class="note">
              Downloaded <strong>{done.name}</strong> ({bytes(done.bytes)}).
            </p>
          )}
          {done && !done.whole && (
            <p class="note warn">
              <strong>{done.name} is incomplete.</strong> Export shorter periods instead, using “From” and “Before”.
            </p>
          )}
        </div>
      </section>
    </Screen>
  )
}
