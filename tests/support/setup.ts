import { afterAll } from 'vitest'
import { cleanUpAfterFile } from './after-file.ts'
import './deny-network.ts'

// Test files share modules, but Vitest runs this one again for each file.
afterAll(cleanUpAfterFile)
