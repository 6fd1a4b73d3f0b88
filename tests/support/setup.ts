import { afterAll } from 'vitest'
import { cleanUpAfterFile } from './after-file.ts'
import './deny-network.ts'

// Files of a worker share their modules. Vitest runs this one again for each of them.
afterAll(cleanUpAfterFile)
