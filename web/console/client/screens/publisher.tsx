import { useData } from '../../../ui/data.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { api, unwrap } from '../api.ts'
import { Tiles } from '../ui/tiles.tsx'

/** A developer with their apps in the marketplace. */
export default function Publisher({ id }: { id: string }) {
  const publisher = useData(`installations publisher ${id}`, () =>
    unwrap(api.GET('/console/publishers/{id}', { params: { path: { id } } })),
  )
  return (
    <Screen title={publisher.data?.name ?? 'Publisher'} wide back={{ to: '/marketplace', label: 'Marketplace' }}>
      <Shown known={publisher} rows={2} tall>
        {({ verified, apps }) => (
          <>
            <p class="soft">
              {verified ? '✓ The platform verified this developer.' : 'The platform hasn’t verified this developer.'}
            </p>
            <Tiles apps={apps} />
          </>
        )}
      </Shown>
    </Screen>
  )
}
