#!/usr/bin/env python3
"""Learns a pipeline for one recorded kernel, in forty lines, by the cross-entropy method.

usage: gym_agent.py RECORDING [KERNEL] [--batches N] [--device DEVICE]
"""

import argparse

import gymnasium
import numpy as np

import mneme.gym

BATCH, BEST, LEARNING = 8, 2, 0.6

parser = argparse.ArgumentParser()
parser.add_argument("recording")
parser.add_argument("kernel", nargs="?")
parser.add_argument("--batches", type=int, default=20)
parser.add_argument("--device")
given = parser.parse_args()

env = gymnasium.make(
    mneme.gym.ENVIRONMENT_ID, recordings=given.recording, device=given.device, max_passes=8
)
random = np.random.default_rng(0)
# How likely each action is, at each place of the pipeline.
chances = np.full((8, env.action_space.n), 1 / env.action_space.n)
for batch in range(given.batches):
    episodes = []
    for _ in range(BATCH):
        observation, info = env.reset(seed=batch, options={"kernel": given.kernel})
        actions, reward, is_over = [], 0.0, False
        while not is_over:
            actions.append(random.choice(chances.shape[1], p=chances[len(actions)]))
            observation, reward, terminated, truncated, info = env.step(actions[-1])
            is_over = terminated or truncated
        episodes.append((reward, actions, info["pipeline"]))
    episodes.sort(key=lambda one: one[0], reverse=True)
    for place in range(8):
        taken = [actions[place] for _, actions, _ in episodes[:BEST] if len(actions) > place]
        for action in taken:
            chances[place] *= 1 - LEARNING / len(taken)
            chances[place, action] += LEARNING / len(taken)
            chances[place] /= chances[place].sum()
    print(f"batch {batch}: {np.exp(episodes[0][0]):.3f}x with {episodes[0][2]}", flush=True)
env.close()
