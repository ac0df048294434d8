import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose } from '../../../ui/text.tsx'
import { ToolTicks } from '../../../ui/tools.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'

type Settings = Schemas['PlatformSettings']
type Tools = Schemas['DeniedTools']['denied_tools']

const DeniedTools = ({ denied_tools }: Pick<Settings, 'denied_tools'>) => {
  const [chosen, setChosen] = useState<string[]>(denied_tools)
  return (
    <Form
      verb="Save blocked tools"
      send={async () => {
        await unwrap(api.PUT('/admin/settings/denied-tools', { body: { denied_tools: chosen as Tools } }))
        announce('Saved. Changes apply to the next call.')
        await refresh('settings')
      }}
    >
      <ToolTicks legend="Blocked for all agents in all workspaces" chosen={chosen} onChange={setChosen} />
    </Form>
  )
}

const Identity = ({ pm_identity }: Pick<Settings, 'pm_identity'>) => {
  const [name, setName] = useState(pm_identity.name)
  const [logo, setLogo] = useState(pm_identity.logo ?? '')
  const [policy, setPolicy] = useState(pm_identity.policy ?? '')
  return (
    <Form
      verb="Save assistant"
      send={async () => {
        const body = { name: name.trim(), logo: logo.trim() || null, policy: policy.trim() || null }
        await unwrap(api.PUT('/admin/settings/pm-identity', { body }))
        announce('Saved. The assistant uses these settings from its next reply.')
        await refresh('settings')
      }}
    >
      <TextField label="Name" value={name} required maxLength={80} onText={setName} />
      <TextField label="Logo" hint="URL of an image. Optional." type="url" value={logo} onText={setLogo} />
      <TextField
        label="Instructions"
        hint="Added to its system prompt. They don’t change the format of its replies."
        rows={6}
        maxLength={8_000}
        value={policy}
        onText={setPolicy}
      />
    </Form>
  )
}

const ReadOnly = ({ denied_tools, pm_identity }: Settings) => (
  <>
    <p class="note">Only a superadmin can change these settings.</p>
    <section class="card">
      <h2>Blocked tools</h2>
      {denied_tools.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul class="tags">
          {denied_tools.map((tool) => (
            <li key={tool}>{tool}</li>
          ))}
        </ul>
      )}
    </section>
    <section class="card">
      <h2>Platform assistant</h2>
      <p>
        <Name>{pm_identity.name}</Name>
      </p>
      {pm_identity.policy ? <Prose text={pm_identity.policy} /> : <p class="soft">No instructions</p>}
    </section>
  </>
)

export default function SettingsScreen() {
  const known = useData('settings', () => unwrap(api.GET('/admin/settings')))
  return (
    <Screen title="Settings">
      <p class="soft">These settings apply to the whole platform.</p>
      <Shown known={known}>
        {(settings) =>
          isSuperadmin.value ? (
            <>
              <section class="card">
                <h2>Tools</h2>
                <DeniedTools denied_tools={settings.denied_tools} />
              </section>
              <section class="card">
                <h2>Platform assistant</h2>
                <p class="soft">How the assistant appears in the main conversation.</p>
                <Identity pm_identity={settings.pm_identity} />
              </section>
            </>
          ) : (
            <ReadOnly {...settings} />
          )
        }
      </Shown>
    </Screen>
  )
}
